// The Converse style at the upstream: one answer, and streams whose usage comes after the end.
import { isObject } from '../../lib/json/parse.ts'
import { readUsage as read } from '../../styles/converse/usage.ts'
import { readErrorEvent } from '../common/errors.ts'
import { servedBy } from '../common/served-as.ts'
import {
  type Json,
  type ReadAnswer,
  reportedBy,
  type StreamState,
  type TextStyle,
  type Verdict,
  withServed,
} from '../text/style.ts'

const usageOf = reportedBy(read)

/** Of an answer, or of the event with the measurements. */
const reportedIn = ({ usage, serviceTier }: Json) =>
  withServed(usageOf(usage), isObject(serviceTier) ? servedBy(serviceTier['type']) : undefined)

export const converseStyle: TextStyle = {
  protocol: 'converse',
  path: '/model/{model}/converse',
  noun: 'an answer of Converse',
  headers: () => ({}),
  readAnswer,
  stream: {
    unread: { named: ['contentBlock'] },
    // No event names the model.
    modelFields: [],
    read: readEvent,
    ending: ({ complete }) =>
      complete ? 'event: metadata\ndata: {"type":"metadata"}\n\n' : undefined,
    textField: /"(?:text|input)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
    fromAnswer,
    toAnswer,
  },
}

const messageOf = ({ output }: Json): Json | undefined => {
  const message = isObject(output) ? output['message'] : undefined
  return isObject(message) ? message : undefined
}

function readAnswer(answer: Json): ReadAnswer | undefined {
  const content = messageOf(answer)?.['content']
  if (!Array.isArray(content)) return undefined
  return {
    reported: reportedIn(answer),
    finishReason: answer['stopReason'],
    text: () => content.map((block) => JSON.stringify(block)).join(''),
  }
}

function readEvent(data: Json, state: StreamState): Verdict {
  switch (data['type']) {
    case 'messageStop':
      state.complete = true
      state.finishReason = data['stopReason']
      return 'pass'
    case 'metadata':
      state.reported = reportedIn(data)
      return 'last'
    case 'error':
      return { failed: readErrorEvent(data['error'] ?? data, state.upstreamRequestId) }
    default:
      return 'pass'
  }
}

/** For upstreams that mix up the two. */
function fromAnswer(answer: Json): string[] {
  const content = messageOf(answer)?.['content']
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const events: Json[] = [
    { type: 'messageStart', role: 'assistant' },
    ...blocks.flatMap((block, contentBlockIndex) => [
      ...beginning(block).map((start) => ({ type: 'contentBlockStart', contentBlockIndex, start })),
      { type: 'contentBlockDelta', contentBlockIndex, delta: deltaOf(block) },
      { type: 'contentBlockStop', contentBlockIndex },
    ]),
    { type: 'messageStop', stopReason: answer['stopReason'] ?? 'end_turn' },
    { type: 'metadata', usage: answer['usage'], serviceTier: answer['serviceTier'] },
  ]
  return events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`)
}

function beginning({ toolUse }: Json): Json[] {
  if (!isObject(toolUse)) return []
  const { input: _, ...head } = toolUse
  return [{ toolUse: head }]
}

function deltaOf(block: Json): Json {
  const { toolUse } = block
  return isObject(toolUse) ? { toolUse: { input: JSON.stringify(toolUse['input'] ?? {}) } } : block
}

/** A stream where one answer was asked for: Converse never sends one. */
function toAnswer(): undefined {
  return undefined
}
