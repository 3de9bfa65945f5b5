// A stream of the messages style: named events; the first has the input usage, a late one the
// output.
import { isObject } from '../../lib/json/parse.ts'
import { mergeUsage } from '../../styles/common/answer-usage.ts'
import { readErrorEvent } from '../common/errors.ts'
import {
  type Json,
  type StreamState,
  type StreamStyle,
  type Verdict,
  withoutOutput,
} from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { repairEvent } from './repair.ts'
import { readUsage } from './usage.ts'

export const stream: StreamStyle = {
  unread: { named: ['content_block_'] },
  modelIn: 'message',
  read,
  repair: repairEvent,
  ending: ({ complete }) =>
    complete ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n' : undefined,
  textField: /"(?:text|thinking|partial_json)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  fromAnswer,
  toAnswer,
}

function read(data: Json, state: StreamState): Verdict {
  switch (data['type']) {
    case 'message_start':
      // Its output count is preliminary: no usage yet.
      state.reported = withoutOutput(readUsage(usageOf(data['message'])))
      return 'pass'
    case 'message_delta':
      learn(state, data['usage'])
      end(state, data['delta'])
      return 'pass'
    case 'message_stop':
      return 'last'
    default:
      return hasFailed(data)
        ? { failed: readErrorEvent(data['error'] ?? data, state.upstreamRequestId) }
        : 'pass'
  }
}

function end(state: StreamState, delta: unknown): void {
  const reason = isObject(delta) ? delta['stop_reason'] : undefined
  if (reason == null) return
  state.complete = true
  state.finishReason = reason
}

/** Some upstreams omit the type of their errors. */
const hasFailed = ({ type, error }: Json): boolean =>
  type === 'error' || (type === undefined && isObject(error))

const usageOf = (message: unknown): unknown =>
  isObject(message) ? (message['usage'] ?? undefined) : undefined

/** The output of the first event does not count; that of any later one does. */
function learn(state: StreamState, usage: unknown): void {
  if (!isObject(usage)) return
  const merged = mergeUsage(state.reported.raw, usage)
  const counted =
    state.reported.usage?.outputTokens !== undefined ||
    usage['output_tokens'] != null ||
    usage['completion_tokens'] != null
  state.reported = counted ? readUsage(merged) : withoutOutput(readUsage(merged))
}
