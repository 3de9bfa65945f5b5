// Converts the upstream's operation status. Pure: a parsed answer in, a report out.
import type { TaskReport } from '../../contract/provider.ts'
import type { OutputMedia, TaskUsage } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure } from '../common/errors.ts'
import { isAddress, maxSeconds, textOf } from '../tasks/fields.ts'
import type { Json } from '../tasks/read-reply.ts'
import { failureOf } from './errors.ts'

const maxSamples = 8
const maxReasons = 8

/** Undefined when it is no operation status. */
export function readOperation(body: Json, requestId: string | undefined): TaskReport | undefined {
  const { done, error, response } = body
  if (textOf(body['name']) === '' && done === undefined) return undefined
  if (done !== true) return { state: 'running' }
  if (isObject(error)) {
    return { state: 'failed', error: failureOf(error, requestId), raw: { error } }
  }
  const outer = isObject(response) ? response : {}
  const made = isObject(outer['generateVideoResponse']) ? outer['generateVideoResponse'] : outer
  const samples = Array.isArray(made['generatedSamples']) ? made['generatedSamples'] : []
  const media = samples.slice(0, maxSamples).flatMap(mediaOf)
  if (media.length === 0 && Number(made['raiMediaFilteredCount'] ?? 0) > 0) {
    return filtered(made, requestId)
  }
  const first: unknown = samples[0]
  const metadata = isObject(first) ? first['metadata'] : undefined
  return { state: 'succeeded', media, usage: usageOf(metadata), raw: metadata }
}

/** Done, with all results filtered: nothing was delivered, so it has failed. */
function filtered(made: Json, requestId: string | undefined): TaskReport {
  const { raiMediaFilteredCount, raiMediaFilteredReasons } = made
  const reasons = Array.isArray(raiMediaFilteredReasons) ? raiMediaFilteredReasons : []
  const message = reasons.map(textOf).filter(Boolean).slice(0, maxReasons).join(' ')
  return {
    state: 'failed',
    error: failure(
      'content_policy_violation',
      message || 'the upstream held the video back for its content',
      requestId,
    ),
    raw: { raiMediaFilteredCount, raiMediaFilteredReasons },
  }
}

function mediaOf(sample: unknown): OutputMedia[] {
  const video = isObject(sample) ? sample['video'] : undefined
  const url = isObject(video) ? textOf(video['uri']) : ''
  return isAddress(url) ? [{ kind: 'video', url }] : []
}

/** Most upstreams of this kind do not report it; a reported value is used. */
function usageOf(metadata: unknown): TaskUsage {
  const seconds = isObject(metadata) ? metadata['durationSeconds'] : undefined
  const sound = typeof seconds === 'number' && seconds > 0 && seconds <= maxSeconds
  return sound ? { outputSeconds: seconds } : {}
}
