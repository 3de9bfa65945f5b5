// A chat stream: unnamed events, usage in an event of its own near the end, `[DONE]` as the last.
import { isObject } from '../../lib/json/parse.ts'
import { mergeUsage } from '../../styles/common/answer-usage.ts'
import { readErrorEvent } from '../common/errors.ts'
import { servedBy, servedIn } from '../common/served-as.ts'
import { doneMarker } from '../text/read-events.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { finishReasonIn, firstReason } from './finish-reason.ts'
import { repairChunk } from './repair.ts'
import { readUsage } from './usage.ts'

const finishReason = /"finish_reason"\s*:\s*"/

export const stream: StreamStyle = {
  // A reseller's chunks name who served them, which is not for callers.
  unread: { without: ['"usage":{', '"usage": {', '"error"', '"cost', '"provider', doneMarker] },
  first: '"service_tier"',
  marker: doneMarker,
  read,
  repair: repairChunk,
  repairIn: { name: 'choices', own: '"tool_calls"' },
  // The usage must have come, or the only choice must have a finish reason.
  ending: ({ call, reported }, lastText) =>
    reported.raw !== undefined || (call.choices === 1 && finishReason.test(lastText))
      ? 'data: [DONE]\n\n'
      : undefined,
  textField: /"(?:content|reasoning_content|arguments)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  finishReasonIn,
  fromAnswer,
  toAnswer,
}

function read(data: Json, state: StreamState): Verdict {
  const { error, usage, choices, service_tier: tier } = data
  if (isObject(error) || typeof error === 'string') {
    return { failed: readErrorEvent(error, state.upstreamRequestId) }
  }
  state.served = servedBy(tier) ?? servedIn(usage) ?? state.served
  if (!isObject(usage)) return 'pass'
  state.reported = readUsage(mergeUsage(state.reported.raw, usage))
  const isBare = !Array.isArray(choices) || choices.length === 0
  if (isBare) state.complete = true
  else state.finishReason ??= firstReason(choices)
  if (state.call.wantsUsage) return 'pass'
  if (isBare) return 'hide'
  return { without: 'usage' }
}
