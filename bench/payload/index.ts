// The bytes of the bench by style: what callers ask and what the fake upstream answers, with known
// usage. Refuses to know sockets, processes and prices.

import { chat } from './chat.ts'
import { embeddings } from './embeddings.ts'
import { generate } from './generate.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import { deltaCount, type Mode, type Payload, type Style } from './shape.ts'

export { type Asked, type BodySize, chatBody } from './bodies.ts'
export {
  type Mode,
  modes,
  type Style,
  styles,
  type TextStyle,
  textStyles,
  tokensPerCall,
} from './shape.ts'

export const payloads: Readonly<Record<Style, Payload>> = {
  chat,
  responses,
  messages,
  generate,
  embeddings,
}

export const hasMode = (style: Style, mode: Mode): boolean =>
  mode === 'json' || payloads[style].stream !== undefined

/** What a stream must end in. `isTranslated`: the gateway has written it itself. */
export function endMarkOf(style: Style, isTranslated = false): string | undefined {
  const { stream } = payloads[style]
  return (isTranslated ? stream?.translatedEndMark : undefined) ?? stream?.endMark
}

/** What is wrong with the whole body of an answer, if anything. */
export function problemWith(
  style: Style,
  mode: Mode,
  body: string,
  { isTranslated = false, asksUsage = true }: { isTranslated?: boolean; asksUsage?: boolean } = {},
): string | undefined {
  const { usageMark, stream } = payloads[style]
  if (asksUsage !== body.includes(usageMark)) return `${asksUsage ? 'no' : 'there is'} ${usageMark}`
  if (mode === 'json' || stream === undefined) return undefined
  const deltas = body.split(stream.deltaMark).length - 1
  if (deltas !== deltaCount) return `${deltas} deltas, expected ${deltaCount}`
  const endMark = endMarkOf(style, isTranslated)!
  return body.slice(-32).includes(endMark) ? undefined : `no ${endMark} at the end`
}
