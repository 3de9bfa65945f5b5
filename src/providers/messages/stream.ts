// A stream of the messages style: named events; the first knows the input, a late one the output.
import { isObject } from '../../lib/json.ts'
import { readErrorEvent } from '../text/errors.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { mergeUsage, readUsage } from './usage.ts'

export const stream: StreamStyle = {
  signs: ['"message_start"', '"message_delta"', '"message_stop"', '"error"'],
  signsWithModel: [],
  modelIn: 'message',
  read,
  ending: ({ complete }) =>
    complete ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n' : undefined,
  textField: /"(?:text|thinking|partial_json)":"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  fromAnswer,
  toAnswer,
}

function read(data: Json, state: StreamState): Verdict {
  switch (data['type']) {
    case 'message_start':
      // Its output is what had been written by then: no usage yet.
      state.reported = { usage: undefined, raw: usageOf(data['message']) }
      return 'pass'
    case 'message_delta':
      learn(state, data['usage'])
      if (isObject(data['delta']) && data['delta']['stop_reason'] != null) state.complete = true
      return 'pass'
    case 'message_stop':
      return 'last'
    case 'error':
      return { failed: readErrorEvent(data['error'], state.upstreamRequestId) }
    default:
      return 'pass'
  }
}

const usageOf = (message: unknown): unknown =>
  isObject(message) ? (message['usage'] ?? undefined) : undefined

function learn(state: StreamState, usage: unknown): void {
  if (!isObject(usage)) return
  const merged = mergeUsage(state.reported.raw, usage)
  state.reported =
    usage['output_tokens'] == null ? { usage: undefined, raw: merged } : readUsage(merged)
}
