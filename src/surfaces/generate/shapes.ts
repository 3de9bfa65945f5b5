// The calls of the generate style by the names that paths end in.
import type { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { Keys } from '../../http/body/exact-keys.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { answerStream, type RequestContext } from '../../http/request-context.ts'
import type { Fields } from '../common/fields.ts'
import type { Opening } from '../text/conversation.ts'
import type { TextShape } from '../text/serve.ts'
import { fieldIn } from './fields.ts'
import { batchKeys, countKeys, embedKeys, generateKeys } from './keys.ts'
import { listOf } from './list-stream.ts'
import { parseCount, parseGenerate } from './parse.ts'
import { parseBatch, parseEmbed } from './parse-embed.ts'

type Parse = (body: JsonBody, model: string) => TextCall | Refusal

/** /vendorg/v1beta/models/txta-plus:generateContent -> txta-plus and generateContent */
export function callIn(path: string): { model: string; method: string } {
  const segment = path.slice(path.lastIndexOf('/') + 1)
  const colon = segment.lastIndexOf(':')
  return { model: decoded(segment.slice(0, colon)), method: segment.slice(colon + 1) }
}

function decoded(name: string): string {
  if (!name.includes('%')) return name
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const modelOf = ({ path }: RequestContext): string => callIn(path).model

const opening = (fields: Fields): Opening => ({
  instructions: fieldIn(fields, 'systemInstruction'),
  tools: fields['tools'],
  turns: fields['contents'],
})

const shapeOf = (keys: Keys, parse: Parse): TextShape => ({
  name: 'generate',
  keys,
  parse: (body, x) => parse(body, modelOf(x)),
  modelOf,
  answerStream: (x, stream, headers) =>
    wantsEvents(x)
      ? answerStream(x, stream, headers)
      : answerStream(x, listOf(stream), { ...headers, 'content-type': 'application/json' }),
  // One write: SDKs of this style look at each for an error.
  errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
})

const wantsEvents = ({ request }: RequestContext): boolean =>
  /[?&](?:\$|%24)?alt=sse(?:&|$)/.test(request.url)

export const countShape = shapeOf(countKeys, parseCount)

const generateShape = (stream: boolean): TextShape => ({
  ...shapeOf(generateKeys, (body, model) => parseGenerate(body, model, stream)),
  opening,
  usage: {
    body: ['usageMetadata'],
    event: ['usageMetadata'],
    isFinal: ({ usageMetadata, usage_metadata }) => (usageMetadata ?? usage_metadata) != null,
    sign: /"usage_?[mM]etadata"/,
  },
})

/** Calls that are answered and charged. */
export const shapes: ReadonlyMap<string, TextShape> = new Map([
  ['generateContent', generateShape(false)],
  ['streamGenerateContent', generateShape(true)],
  ['embedContent', shapeOf(embedKeys, parseEmbed)],
  ['batchEmbedContents', shapeOf(batchKeys, parseBatch)],
])
