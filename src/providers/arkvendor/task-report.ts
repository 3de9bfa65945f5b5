// What the upstream's account of a task means. Pure: a parsed answer in, a report out.
import type { TaskReport } from '../../contract/provider.ts'
import type { OutputMedia, VideoUsage } from '../../contract/task.ts'
import { isObject } from '../../lib/json.ts'
import type { Json } from '../tasks/listen.ts'
import { failure } from '../text/errors.ts'
import { failureOf, textOf } from './errors.ts'

const statuses: ReadonlyMap<string, TaskReport['state']> = new Map([
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['running', 'running'],
  ['processing', 'running'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['expired', 'failed'],
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
])

/** How long this upstream keeps a result; its addresses do not say so in one way. */
const keptMs = 24 * 3_600_000
const mostTokens = 1e9
const mostSeconds = 600
const epochSeconds = { least: 1e9, most: 1e10 }

/** Undefined when it is no account of a task. */
export function readReport(body: Json, requestId: string | undefined): TaskReport | undefined {
  const word = textOf(body['status']).trim().toLowerCase()
  if (word === '') return undefined
  const state = statuses.get(word) ?? 'running'
  const { content, ...raw } = body
  if (state === 'succeeded')
    return { state, media: mediaOf(content, body), usage: usageOf(body), raw }
  if (state !== 'failed') return { state }
  const error =
    word === 'expired' && !isObject(body['error'])
      ? failure('upstream_timeout', 'the task expired before the upstream finished it', requestId)
      : failureOf(body['error'], requestId)
  return { state, error, raw }
}

function mediaOf(content: unknown, { updated_at: at }: Json): OutputMedia[] {
  if (!isObject(content)) return []
  const seconds = typeof at === 'number' && at >= epochSeconds.least && at <= epochSeconds.most
  const expiry = seconds ? { expiresAtMs: at * 1000 + keptMs } : {}
  const video = textOf(content['video_url'])
  if (!isAddress(video)) return []
  const frame = textOf(content['last_frame_url'])
  return [
    { kind: 'video', url: video, ...expiry },
    ...(isAddress(frame) ? [{ kind: 'image', url: frame, ...expiry } as const] : []),
  ]
}

const isAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

function usageOf({ usage, duration }: Json): VideoUsage {
  const { completion_tokens, total_tokens } = isObject(usage) ? usage : {}
  const videoTokens = [completion_tokens, total_tokens].find(isTokens)
  return {
    ...(videoTokens !== undefined && { videoTokens }),
    ...(isSeconds(duration) && { outputSeconds: duration }),
  }
}

const isTokens = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens

const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= mostSeconds
