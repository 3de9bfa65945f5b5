// What a case of the matrix is: a conversation in the neutral form, what callers of each style say in
// words of their own, and what upstreams of each style get of it.
import type { AnswerEvent } from '../../../src/styles/common/answer.ts'
import type {
  Conversation,
  FieldNames,
  Part,
  StyleName,
  Turn,
} from '../../../src/styles/common/conversation.ts'

/** What can be lost: a field of the neutral form, or a part of one that has a name of its own. */
export type Aspect = keyof FieldNames | 'cache.ttl' | 'document.name' | 'document text'

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are changed in place
export type Body = any

export interface ConversationCase {
  name: string
  conversation: Partial<Conversation>
  /** Changes of the body that a caller of the style sends, for what no writer of requests writes. */
  own?: Partial<Record<StyleName, (body: Body) => void>>
  /** By style of the upstream: what is changed for it, where the caller said it. */
  changes?: Partial<Record<StyleName, readonly Aspect[]>>
  /** By style of the upstream: what is refused, where the caller said it. */
  refuses?: Partial<Record<StyleName, Aspect>>
  /** By style of the caller: fields that are not read, whatever the upstream. */
  unread?: Partial<Record<StyleName, readonly string[]>>
  /** What the upstream answers, if the sandbox does not say it. */
  answer?: readonly AnswerEvent[]
  /** Upstreams of these styles refuse it from callers of their own. */
  refusedAtHome?: readonly StyleName[]
  /** Upstreams that refuse its seals; the gateway sends it once more without them. */
  strippedAtHome?: readonly StyleName[]
  /** What upstreams stream is not in order, and forwarded as it is. */
  isOutOfOrder?: true
}

export const text = (value: string): Part => ({ type: 'text', text: value })
export const user = (...parts: (string | Part)[]): Turn => turn('user', parts)
export const assistant = (...parts: (string | Part)[]): Turn => turn('assistant', parts)
export const instructions = (value: string): Turn => turn('system', [value])

const turn = (role: Turn['role'], parts: readonly (string | Part)[]): Turn => ({
  role,
  parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
})

export const call = (id: string, name: string, input: string, more: object = {}): Part => ({
  type: 'call',
  id,
  name,
  freeForm: false,
  input,
  ...more,
})

export const result = (callId: string, ...parts: (string | Part)[]): Part =>
  ({ type: 'result', callId, parts: turn('user', parts).parts, isError: false }) as Part

export const failed = (callId: string, message: string): Part => ({
  type: 'result',
  callId,
  parts: [{ type: 'text', text: message }],
  isError: true,
})

export const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const

export const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  schema: citySchema,
}
export const clock = {
  name: 'clock',
  description: 'The time of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' }, zone: { type: 'string' } } },
}
