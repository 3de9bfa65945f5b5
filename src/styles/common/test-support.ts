// What tests of the styles share: targets, contexts, and a checker of the order of events.
import { expect } from 'bun:test'
import type { AnswerEvent, StreamReader, StreamWriter } from './answer.ts'
import type { Conversation, Json } from './conversation.ts'
import { createEnvelopes } from './envelope.ts'
import { parseExact } from './exact-json.ts'
import { Growth } from './growth.ts'
import { Losses } from './losses.ts'
import type { ReadContext, Style, Target, TargetSettings, WriteContext } from './style.ts'
import { ToolNames } from './tool-names.ts'

export const envelopes = createEnvelopes(new Uint8Array(32).fill(7))

const names = Object.fromEntries(
  ['system', 'tools', 'stop', 'format', 'effort', 'cache', 'reasoning'].map((name) => [name, name]),
)

/** For tests of what all styles share. */
export const emptyConversation: Conversation = {
  fieldNames: { ...names, turns: 'messages' } as unknown as Conversation['fieldNames'],
  system: [],
  turns: [],
  tools: [],
  stop: [],
  sampling: {},
  format: { kind: 'text' },
  choices: 1,
}

const settings: TargetSettings = {
  instructions: 'first',
  documents: true,
  mediaUrls: true,
  cacheControl: false,
  autoCache: false,
  maxTokensField: 'max_tokens',
  replayReasoning: false,
  outputSchema: true,
  freeFormTools: false,
  mediaInResults: true,
  streamOptions: true,
  background: false,
  reasoning: 'effort',
}

export const targetWith = (
  changes: Partial<TargetSettings> = {},
  rest: Partial<Target> = {},
): Target => ({
  model: 'up-model',
  stream: false,
  maxOutputTokens: 32_000,
  strict: false,
  envelopes,
  realm: 'here',
  growth: new Growth(Number.POSITIVE_INFINITY),
  settings: { ...settings, ...changes },
  ...rest,
})

export interface ReadResult {
  conversation: Conversation
  losses: string[]
}

/** Fails the test on a refusal. */
export function readFields(style: Style, fields: Json): ReadResult {
  const losses = new Losses()
  const body = JSON.stringify(fields)
  const read = style.readRequest({ fields: parseExact(body) as Json, body, envelopes }, losses)
  expect(read).not.toHaveProperty('code')
  return { conversation: read as Conversation, losses: losses.names }
}

export interface WriteResult {
  request: Json
  losses: string[]
  names: ToolNames
  /** Set instead of the request. */
  param?: string
}

export function writeTo(
  style: Style,
  conversation: Conversation,
  target = targetWith(),
): WriteResult {
  const losses = new Losses()
  const names = new ToolNames(conversation.tools, style.toolName)
  const written = style.writeRequest(conversation, target, names, losses) as Json
  const refused = written['extras'] as { param?: string } | undefined
  const param = refused?.param
  return { request: written, losses: losses.names, names, ...(param !== undefined && { param }) }
}

export const readContext = (rest: Partial<ReadContext> = {}): ReadContext => ({
  names: new ToolNames([], /^/),
  envelopes,
  realm: 'here',
  ...rest,
})

export const writeContext = (conversation: Conversation, fields: Json = {}): WriteContext => ({
  id: 'abc',
  model: 'asked-model',
  createdMs: 1_700_000_000_123,
  fields,
  conversation,
  envelopes,
  inputTokens: 11,
})

/** All events of a stream, and its regular end. Checks their order. */
export function eventsOf(reader: StreamReader, stream: readonly Json[]): AnswerEvent[] {
  const events: AnswerEvent[] = []
  for (const data of stream) {
    const { type } = data
    reader.read(data, typeof type === 'string' ? type : undefined, (event) => events.push(event))
  }
  reader.end((event) => events.push(event))
  expectLegal(events)
  return events
}

export function eventsOfAnswer(style: Style, answer: Json, context = readContext()): AnswerEvent[] {
  const events: AnswerEvent[] = []
  style.readAnswer(answer, context, (event) => events.push(event))
  expectLegal(events)
  return events
}

export const written = (writer: StreamWriter, events: readonly AnswerEvent[]): string =>
  events.map((event) => writer.write(event)).join('') + writer.end()

/** Fails the test unless the events are in the order that common/answer.ts defines. */
export function expectLegal(events: readonly AnswerEvent[]): void {
  const problem = problemIn(events)
  if (problem !== undefined) expect([problem, events]).toBeUndefined()
}

function problemIn(events: readonly AnswerEvent[]): string | undefined {
  let open: number | undefined
  let next = 0
  let state: 'new' | 'begun' | 'stopped' | 'over' = 'new'
  for (const event of events) {
    if (event.type === 'lost') continue
    if (state === 'over') return `${event.type} after the end`
    if (event.type === 'fail') state = 'over'
    else if (event.type === 'begin') {
      if (state !== 'new') return 'begins twice'
      state = 'begun'
    } else if (event.type === 'usage') {
      if (state !== 'stopped') return 'usage before the end'
      state = 'over'
    } else if (state !== 'begun') return `${event.type} in the state ${state}`
    else if (event.type === 'stop') {
      if (open !== undefined) return 'stops inside of a block'
      state = 'stopped'
    } else if (event.type === 'open') {
      if (open !== undefined || event.index !== next) return 'opens out of order'
      if (event.block.kind === 'call' && !(event.block.call.id && event.block.call.name)) {
        return 'opens a call without id or name'
      }
      open = next++
    } else if (event.index !== open) return `${event.type} outside of its block`
    else if (event.type === 'close') open = undefined
    else if ((event.type === 'text' || event.type === 'input') && typeof event.text !== 'string') {
      return 'text is no text'
    }
  }
  return state === 'stopped' || state === 'over' ? undefined : 'has no end'
}

/** The data of all events of a stream of text. */
export const dataOf = (stream: string): Json[] =>
  stream.split('\n\n').flatMap((event) => {
    const data = event
      .split('\n')
      .find((line) => line.startsWith('data: '))
      ?.slice(6)
    return data === undefined || data === '[DONE]' ? [] : [JSON.parse(data)]
  })
