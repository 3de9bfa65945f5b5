// A stream of the generate style: unnamed events, each a part of the answer, without an end marker.
// The answer is over when every candidate has a finish reason and the upstream ends its stream. Some
// upstreams put a finish reason into every event, some send the usage behind it.
import { isObject } from '../../lib/json/parse.ts'
import { mergeUsage } from '../../styles/common/answer-usage.ts'
import { blockReasonOf, candidatesOf, finishReasonOf } from '../../styles/generate/wire.ts'
import { readErrorEvent } from '../common/errors.ts'
import {
  type Json,
  type StreamState,
  type StreamStyle,
  type Verdict,
  withoutOutput,
} from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { blocked, firstReason, nothing, readUsage, usageWithSearches } from './read-answer.ts'
import { repairAnswer } from './repair.ts'

export const stream: StreamStyle = {
  // Each in both spellings.
  unread: { without: ['"finish', '"promptF', '"prompt_f', '"error"', '"cost', '"provider'] },
  // Nearly every event has it.
  late: '"usage',
  modelFields: ['modelVersion', 'model_version'],
  read,
  repair: repairAnswer,
  ending: () => undefined,
  textField: /"(?:text|name)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  finishReasonIn,
  fromAnswer,
  toAnswer,
  lists: true,
}

function read(data: Json, state: StreamState): Verdict {
  const { error } = data
  if (isObject(error) || typeof error === 'string') {
    return { failed: readErrorEvent(error, state.upstreamRequestId) }
  }
  const candidates = candidatesOf(data)
  const verdict = candidates.length === 0 ? readBare(data, state) : readAll(candidates, state)
  if (verdict === 'over') return verdict
  const raw = mergeUsage(state.reported.raw, usageWithSearches(data, candidates))
  if (raw !== undefined)
    state.reported = state.complete ? readUsage(raw) : withoutOutput(readUsage(raw))
  return verdict
}

function readAll(candidates: readonly Json[], state: StreamState): Verdict {
  state.stopped ??= new Map()
  const { stopped } = state
  let isEnd = false
  for (const candidate of candidates) {
    const index = candidate['index'] ?? 0
    const hasStopped = finishReasonOf(candidate) !== undefined
    // More of an answer that is complete, and no reason to stop: not part of it.
    if (state.complete && !hasStopped && stopped.get(index)) return 'over'
    stopped.set(index, hasStopped)
    isEnd ||= hasStopped
  }
  state.finishReason = firstReason(candidates) ?? state.finishReason
  state.complete = stopped.values().every((each) => each)
  return isEnd || state.complete ? 'hold' : 'pass'
}

const callKeys = ['"functionCall"', '"function_call"'].map((key) => Buffer.from(key))

/** A call may be in an event before the one that stops. */
function finishReasonIn(bytes: Buffer, { finishReason }: StreamState): unknown {
  const isCall = finishReason === 'STOP' && callKeys.some((key) => bytes.includes(key))
  return isCall ? 'tool_calls' : finishReason
}

/** An event without output: usage alone, or why the request was refused. */
function readBare(data: Json, state: StreamState): Verdict {
  if (state.stopped === undefined && blockReasonOf(data) !== undefined) {
    state.complete = true
    state.finishReason = blocked
    if (state.reported.raw === undefined) state.reported = nothing
  }
  return state.complete ? 'hold' : 'pass'
}
