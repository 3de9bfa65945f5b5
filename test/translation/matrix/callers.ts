// The requests of the matrix as callers of each style send them, and what the gateway reads in them.
import { Refusal } from '../../../src/contract/errors.ts'
import type {
  Conversation,
  Json,
  Part,
  StyleName,
  Turn,
} from '../../../src/styles/common/conversation.ts'
import { parseExact } from '../../../src/styles/common/exact-json.ts'
import { Losses } from '../../../src/styles/common/losses.ts'
import { conversation, envelopes, target } from '../../../src/styles/common/test-answers.ts'
import { ToolNames } from '../../../src/styles/common/tool-names.ts'
import { styles } from '../../../src/styles/index.ts'
import type { Body, ConversationCase } from '../conversations/conversation-case.ts'

/** Of a caller whose style needs one. */
const maxOutputTokens = 500
const anyName = /^.*$/s

const paths: Record<StyleName, (model: string, stream: boolean) => string> = {
  chat: () => '/v1/chat/completions',
  responses: () => '/v1/responses',
  messages: () => '/v1/messages',
  generate: (model, stream) =>
    `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
}

export const pathOf = (style: StyleName, model: string, stream: boolean): string =>
  paths[style](model, stream)

/** The model, where the body names it. */
export const named = (style: StyleName, model: string): { model?: string } =>
  style === 'generate' ? {} : { model }

export interface Wanted {
  from: StyleName
  model: string
  stream: boolean
  /** Tells the call from all others; short answers are as good as long ones. */
  mark: string
}

/** The request of a case in the caller's style: all that the style can say of it. */
export function requestOf(
  { conversation: fields, own }: ConversationCase,
  { from, model, stream, mark }: Wanted,
): { path: string; body: Body } {
  const given = conversation(structuredClone(fields))
  const turns = marked(given.turns, `${mark} [[sim:tokens=6]]`)
  const body = written(from, { ...given, turns }, model, stream)
  own?.[from]?.(body)
  return { path: pathOf(from, model, stream), body }
}

function marked(turns: readonly Turn[], mark: string): Turn[] {
  const first = turns.findIndex(({ role }) => role === 'user')
  return turns.map(({ role, parts: [head, ...rest] }, index) => {
    const isMarked = index === first && head?.type === 'text'
    const begin = isMarked ? { ...head, text: `${mark} ${head.text}` } : head!
    return { role, parts: [begin, ...rest] }
  })
}

function written(from: StyleName, given: Conversation, model: string, stream: boolean): Body {
  const to = target({ replayReasoning: true }, { model, stream, maxOutputTokens })
  const names = new ToolNames(given.tools, anyName)
  const body = styles[from].writeRequest(given, to, names, new Losses())
  if (!(body instanceof Refusal)) return JSON.parse(JSON.stringify(body))
  return written(from, without(given, String(body.extras.param)), model, stream)
}

/** The same without what a caller of the style cannot say. */
function without(given: Conversation, aspect: string): Conversation {
  if (aspect === 'stop') return { ...given, stop: [] }
  const isOther = ({ type }: Part): boolean => type !== aspect
  const turns = given.turns.map(({ role, parts }) => ({ role, parts: parts.filter(isOther) }))
  if (Bun.deepEquals(turns, given.turns)) throw new Error(`a caller cannot say '${aspect}'`)
  return { ...given, turns }
}

/** What a reader of the style finds in a body. Seals of the gateway under test are not opened. */
export function readAs(style: StyleName, text: string): { read: Conversation; losses: string[] } {
  const losses = new Losses()
  const fields = parseExact(text) as Json
  const read = styles[style].readRequest({ fields, body: text, envelopes }, losses)
  if (read instanceof Refusal) throw new Error(`not a request of ${style}: ${read.message}`)
  return { read, losses: losses.names }
}
