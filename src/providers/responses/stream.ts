// A stream of the responses style: typed events; the last one carries the whole response with its
// usage.
import { isObject } from '../../lib/json/parse.ts'
import { readErrorEvent } from '../common/errors.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'
import { finishReasonOf } from './finish-reason.ts'
import { learnEvent } from './ids.ts'
import { repairEvent } from './repair.ts'
import { failedWith, readResponseUsage } from './usage.ts'

const lastTypes = ['response.completed', 'response.incomplete'] as const
const isLast = (type: unknown): boolean => lastTypes.some((last) => last === type)

export const stream: StreamStyle = {
  // Others repeat the text of these, and must not count as more of it.
  unread: {
    named: [
      'response.output_text.delta',
      'response.reasoning_text.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
    ],
  },
  modelIn: 'response',
  ids: learnEvent,
  read,
  repair: repairEvent,
  ending: () => undefined,
  textField: /"delta"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  fromAnswer,
  toAnswer(events) {
    const state = {}
    const whole = events.map((event) => repairEvent(event, state))
    const end = whole.find((event) => isLast(event['type']) || hasFailed(event))
    if (end === undefined) return undefined
    if (hasFailed(end)) return { error: errorIn(end) }
    return isObject(end['response']) ? end['response'] : undefined
  },
}

function read(data: Json, state: StreamState): Verdict {
  const { type, response } = data
  if (isLast(type)) {
    const last = isObject(response) ? response : {}
    state.reported = readResponseUsage(last)
    state.finishReason = finishReasonOf(last)
    return 'last'
  }
  if (hasFailed(data)) {
    const error = readErrorEvent(errorIn(data), state.upstreamRequestId)
    return { failed: isObject(response) ? failedWith(response, error) : error }
  }
  return 'pass'
}

/** Some upstreams omit the type of their errors. */
const hasFailed = ({ type, error }: Json): boolean =>
  type === 'response.failed' || type === 'error' || (type === undefined && isObject(error))

/** In a failed response, in the event, or the event itself. */
function errorIn({ response, error, ...rest }: Json): unknown {
  if (isObject(response) && isObject(response['error'])) return response['error']
  return isObject(error) ? error : rest
}

/** The items of a response, each added and done, and the response itself. */
function fromAnswer(answer: Json): string[] {
  const begun = { ...answer, status: 'in_progress', output: [], usage: null }
  const type = answer['status'] === 'incomplete' ? lastTypes[1] : lastTypes[0]
  const output = Array.isArray(answer['output']) ? answer['output'].filter(isObject) : []
  const events: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, index) => itemEvents(item, index)),
    { type, response: answer },
  ]
  return events.map(
    (event, sequence_number) =>
      `event: ${event['type']}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  )
}

function itemEvents(item: Json, output_index: number): Json[] {
  const content = Array.isArray(item['content']) ? item['content'].filter(isObject) : []
  const at = { item_id: item['id'], output_index }
  const bare = item['type'] === 'message' ? { ...item, content: [] } : item
  const parts = item['type'] === 'message' ? content : []
  return [
    { type: 'response.output_item.added', output_index, item: bare },
    ...parts.flatMap((part, content_index) => partEvents(part, { ...at, content_index })),
    { type: 'response.output_item.done', output_index, item },
  ]
}

function partEvents(part: Json, at: Json): Json[] {
  const text = part['type'] === 'output_text' ? part['text'] : undefined
  const isText = typeof text === 'string'
  const logprobs: unknown[] = []
  return [
    { type: 'response.content_part.added', ...at, part: isText ? { ...part, text: '' } : part },
    ...(isText
      ? [
          { type: 'response.output_text.delta', ...at, delta: text, logprobs },
          { type: 'response.output_text.done', ...at, text, logprobs },
        ]
      : []),
    { type: 'response.content_part.done', ...at, part },
  ]
}
