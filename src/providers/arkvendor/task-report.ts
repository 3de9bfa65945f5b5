// Converts the upstream's task status. Pure: a parsed answer in, a report out.

import { framesPerSecond } from '../../contract/media/video-size.ts'
import type { TaskReport } from '../../contract/provider.ts'
import type { OutputMedia, TaskUsage } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure } from '../common/errors.ts'
import { isAddress, isEpochSeconds, maxSeconds, textOf } from '../tasks/fields.ts'
import type { Json } from '../tasks/read-reply.ts'
import { reportUnknown, stateOf, wordOf } from '../tasks/states.ts'
import { failureOf } from './errors.ts'

/** How long this upstream keeps a result; its URLs have no uniform expiry. */
const keptMs = 24 * 3_600_000
const maxTokens = 1e9

/** Undefined when it is no task status. */
export function readReport(
  body: Json,
  marker: string,
  requestId: string | undefined,
): TaskReport | undefined {
  const word = wordOf(textOf(body['status']))
  if (word === '') return undefined
  const state = stateOf(word)
  if (state === undefined) return reportUnknown(textOf(body['status']))
  const raw = rawOf(body, marker)
  if (state === 'succeeded') {
    return { state, media: mediaOf(body['content'], body), usage: usageOf(body), raw }
  }
  if (state !== 'failed') return { state }
  const error =
    word === 'EXPIRED' && !isObject(body['error'])
      ? failure('upstream_timeout', 'the task expired before the upstream finished it', requestId)
      : failureOf(body['error'], requestId)
  if (word.startsWith('MODERAT')) error.code = 'content_policy_violation'
  return { state, error, raw }
}

/** Without file URLs, and without fields that the caller never sent. */
function rawOf({ content, ...raw }: Json, marker: string): Json {
  const kept = isObject(content) ? withoutAddresses(content) : {}
  const about = Object.keys(kept).length > 0 && { content: kept }
  if (raw['safety_identifier'] !== marker) return { ...raw, ...about }
  const { safety_identifier: __, ...rest } = raw
  return { ...rest, ...about }
}

const withoutAddresses = (content: Json): Json =>
  Object.fromEntries(
    Object.entries(content).filter(
      ([name, value]) => !/url$/i.test(name) && !isAddress(textOf(value)),
    ),
  )

function mediaOf(content: unknown, { updated_at: at }: Json): OutputMedia[] {
  if (!isObject(content)) return []
  const expiry = isEpochSeconds(at) ? { expiresAtMs: at * 1000 + keptMs } : {}
  const video = textOf(content['video_url'])
  if (!isAddress(video)) return []
  const frame = textOf(content['last_frame_url'])
  return [
    { kind: 'video', url: video, ...expiry },
    ...(isAddress(frame) ? [{ kind: 'image', url: frame, ...expiry } as const] : []),
  ]
}

function usageOf(body: Json): TaskUsage {
  const { video_tokens, completion_tokens, total_tokens } = isObject(body['usage'])
    ? body['usage']
    : {}
  const videoTokens = [video_tokens, completion_tokens, total_tokens].find(isTokens)
  const outputSeconds = lengthOf(body)
  return {
    ...(videoTokens !== undefined && { videoTokens }),
    ...(outputSeconds !== undefined && { outputSeconds }),
  }
}

/** The upstream reports one of the two. */
function lengthOf({ duration, frames, framespersecond: rate }: Json): number | undefined {
  if (isSeconds(duration)) return duration
  if (typeof frames !== 'number') return undefined
  const seconds = frames / (isSeconds(rate) ? rate : framesPerSecond)
  return isSeconds(seconds) ? seconds : undefined
}

const isTokens = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens

const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= maxSeconds
