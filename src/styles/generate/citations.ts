// Sources of an answer in the generate style. Its offsets count bytes; ours count letters.

import { numberIn, objectIn, objectsIn, textIn } from '../../lib/json/values.ts'
import type { Citation } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import { present } from '../common/request-reading.ts'

const none: readonly Citation[] = []

/** Found in one candidate: sources that support parts of the text, and sources it repeats. */
export function citationsIn(candidate: Json, text: string): readonly Citation[] {
  if (candidate['groundingMetadata'] == null && candidate['citationMetadata'] == null) return none
  const grounding = objectIn(candidate, 'groundingMetadata') ?? {}
  const chunks = objectsIn(grounding, 'groundingChunks').map((each) => objectIn(each, 'web') ?? {})
  const supports = objectsIn(grounding, 'groundingSupports')
  const repeated = objectsIn(objectIn(candidate, 'citationMetadata') ?? {}, 'citations')
  const grounded =
    supports.length === 0
      ? chunks.map((web) => citation(web, {}, text))
      : supports.flatMap((support) => {
          const segment = objectIn(support, 'segment') ?? {}
          const indices = support['groundingChunkIndices']
          return (Array.isArray(indices) ? indices : []).map((index) =>
            citation(chunks[Number(index)] ?? {}, segment, text),
          )
        })
  const own = repeated.map((each) => citation(each, each, text))
  return [...grounded, ...own].flatMap((each) => each ?? [])
}

function citation(source: Json, segment: Json, text: string): Citation | undefined {
  const url = textIn(source, 'uri')
  if (!url) return undefined
  const end = numberIn(segment, 'endIndex')
  const start = numberIn(segment, 'startIndex') ?? (end === undefined ? undefined : 0)
  return {
    url,
    ...present({
      title: textIn(source, 'title'),
      start: start === undefined ? undefined : lettersIn(text, start),
      end: end === undefined ? undefined : lettersIn(text, end),
      quote: textIn(segment, 'text'),
    }),
  }
}

const lettersIn = (text: string, bytes: number): number =>
  Buffer.from(text).subarray(0, Math.max(0, bytes)).toString().length

const bytesIn = (text: string, letters: number): number => Buffer.byteLength(text.slice(0, letters))

/** Collects the sources of an answer for its last part. */
export class Grounding {
  readonly #chunks: Json[] = []
  readonly #supports: Json[] = []

  add({ url, title, start, end, quote }: Citation, text: string): void {
    const known = this.#chunks.findIndex(({ web }) => (web as Json)['uri'] === url)
    const at =
      known === -1 ? this.#chunks.push({ web: { uri: url, ...present({ title }) } }) - 1 : known
    if (end === undefined) return
    const startIndex = bytesIn(text, start ?? 0)
    const segment = {
      startIndex,
      endIndex: bytesIn(text, end),
      text: quote ?? text.slice(start, end),
    }
    this.#supports.push({ segment, groundingChunkIndices: [at] })
  }

  /** Undefined when there are no sources. */
  get metadata(): Json | undefined {
    if (this.#chunks.length === 0) return undefined
    return { groundingChunks: this.#chunks, groundingSupports: this.#supports }
  }
}
