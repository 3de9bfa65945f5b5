// Answers for tests: whether a sequence of events is legal, contexts for readers and writers, and one
// answer that has every kind of block.
import type { AnswerEvent, AnswerUsage, Block, StreamReader } from './answer.ts'
import type { Conversation, FieldNames, Json } from './conversation.ts'
import { createEnvelopes } from './envelope.ts'
import { Growth } from './growth.ts'
import type { ReadContext, Style, Target, WriteContext } from './style.ts'
import { ToolNames } from './tool-names.ts'

export const envelopes = createEnvelopes(new Uint8Array(32).fill(7))
export const realm = 'realm up.example'

/** Each name is the neutral one. */
export const neutralNames = new Proxy({} as FieldNames, {
  get: (_, name) => String(name),
})

export const conversation = (fields: Partial<Conversation> = {}): Conversation => ({
  fieldNames: neutralNames,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  stop: [],
  sampling: {},
  format: { kind: 'text' },
  choices: 1,
  ...fields,
})

export const target = (
  settings: Partial<Target['settings']> = {},
  fields: Partial<Target> = {},
): Target => ({
  model: 'up-model',
  stream: false,
  maxOutputTokens: 4_096,
  strict: false,
  envelopes,
  realm,
  growth: new Growth(Number.POSITIVE_INFINITY),
  settings: {
    instructions: 'anywhere',
    documents: true,
    mediaUrls: true,
    cacheControl: true,
    autoCache: false,
    maxTokensField: 'max_completion_tokens',
    replayReasoning: false,
    outputSchema: true,
    freeFormTools: true,
    mediaInResults: true,
    streamOptions: true,
    background: false,
    reasoning: 'effort',
    ...settings,
  },
  ...fields,
})

export const readContext = (style: Style, tools: Conversation['tools'] = []): ReadContext => ({
  names: new ToolNames(tools, style.toolName),
  envelopes,
  realm,
})

export const writeContext = (fields: Partial<WriteContext> = {}): WriteContext => ({
  id: 'abc123',
  model: 'caller-model',
  createdMs: 1_700_000_000_000,
  fields: {},
  conversation: conversation({ wantsSeals: true, showReasoning: true }),
  envelopes,
  inputTokens: 5,
  ...fields,
})

/** All events of a stream; without `end` for one that is cut off. */
export function readAll(reader: StreamReader, data: readonly Json[], isCut = false): AnswerEvent[] {
  const events: AnswerEvent[] = []
  const emit = (event: AnswerEvent) => void events.push(event)
  for (const each of data) reader.read(each, undefined, emit)
  if (!isCut) reader.end(emit)
  return events
}

export function readWhole(
  style: Style,
  answer: Json,
  tools?: Conversation['tools'],
): AnswerEvent[] {
  const events: AnswerEvent[] = []
  style.readAnswer(answer, readContext(style, tools), (event) => void events.push(event))
  return events
}

export const usage: AnswerUsage = {
  inputTokens: 100,
  outputTokens: 40,
  cacheReadTokens: 60,
  cacheWriteTokens: 20,
  reasoningTokens: 10,
}

/** One block with its text. */
export function block(index: number, kind: Block, ...texts: string[]): AnswerEvent[] {
  const type = kind.kind === 'call' ? 'input' : 'text'
  return [
    { type: 'open', index, block: kind },
    ...texts.map((text): AnswerEvent => ({ type, index, text })),
    { type: 'close', index },
  ]
}

export const call = (id: string, name: string, freeForm = false): Block => ({
  kind: 'call',
  call: { id, name, freeForm },
})

/** Undefined when the events are legal and at an end. */
export function eventProblem(events: readonly AnswerEvent[]): string | undefined {
  let open: Block | undefined
  let next = 0
  let state: 'new' | 'begun' | 'stopped' | 'over' = 'new'
  for (const [at, event] of events.entries()) {
    const say = (what: string) => `event ${at} (${event.type}): ${what}`
    if (event.type === 'lost') continue
    if (event.type === 'fail') {
      if (state === 'stopped' || state === 'over') return say('after the end')
      state = 'over'
      continue
    }
    if (event.type === 'usage') {
      if (state !== 'stopped') return say('before stop')
      state = 'over'
      continue
    }
    if (event.type === 'begin') {
      if (state !== 'new') return say('twice')
      state = 'begun'
      continue
    }
    if (state !== 'begun') return say(`in state ${state}`)
    if (event.type === 'stop') {
      if (open !== undefined) return say('with an open block')
      state = 'stopped'
      continue
    }
    if (event.index !== next) return say(`index ${event.index} instead of ${next}`)
    if (event.type === 'open') {
      if (open !== undefined) return say('inside of a block')
      open = event.block
      if (open.kind === 'call' && (!open.call.id || !open.call.name)) return say('without a name')
      continue
    }
    if (open === undefined) return say('outside of a block')
    if (event.type === 'close') {
      open = undefined
      next++
    } else if ((event.type === 'input') !== (open.kind === 'call') && event.type !== 'seal') {
      if (!(event.type === 'cite' && open.kind === 'text')) return say(`in ${open.kind}`)
    }
  }
  return state === 'stopped' || state === 'over' ? undefined : 'no end'
}

/** The events of a block as one, for comparing streams with whole answers. */
export function joined(events: readonly AnswerEvent[]): AnswerEvent[] {
  const result: AnswerEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    if ((event.type === 'text' || event.type === 'input') && last?.type === event.type) {
      result[result.length - 1] = { ...last, text: last.text + event.text }
    } else result.push(event)
  }
  return result
}
