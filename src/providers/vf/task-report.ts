// Converts the upstream's task status. Pure: a parsed answer in, a report out.
import type { TaskReport, TaskUpstream } from '../../contract/provider.ts'
import type { OutputMedia, TaskUsage, VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { isAddress, isEpochSeconds, maxSeconds, textOf } from '../tasks/fields.ts'
import type { Json } from '../tasks/read-reply.ts'
import { reportUnknown, stateOf, wordOf } from '../tasks/states.ts'
import { takesVideo } from './build-request.ts'
import { failureOf } from './errors.ts'

/** This upstream's status for an unknown task. */
const missing = ['UNKNOWN', 'NOT_FOUND']

export const readReport = (
  body: Json,
  plainModel: string,
  requestId: string | undefined,
): TaskReport | undefined =>
  readAccount(body, requestId, (output) => ({
    media: mediaOf(output),
    usage: usageOf(body['usage'], plainModel),
  }))

/** Undefined when it is no task status. Other code reads the result of a finished one. */
export function readAccount(
  body: Json,
  requestId: string | undefined,
  result: (output: Json) => { media: readonly OutputMedia[]; usage: TaskUsage },
): TaskReport | undefined {
  const output = body['output']
  if (!isObject(output)) return undefined
  const word = wordOf(textOf(output['task_status']))
  if (word === '') return undefined
  if (missing.includes(word)) return { state: 'missing' }
  const state = stateOf(word)
  if (state === undefined) return reportUnknown(textOf(output['task_status']))
  if (state === 'succeeded') return { state, ...result(output), raw: body['usage'] }
  if (state === 'failed') {
    const { code, message } = output
    const error = failureOf(output, requestId)
    if (word.startsWith('MODERAT')) error.code = 'content_policy_violation'
    return { state, error, raw: { task_status: output['task_status'], code, message } }
  }
  return { state }
}

function mediaOf(output: Json): readonly OutputMedia[] {
  const url = textOf(output['video_url'])
  return isAddress(url) ? [expiring({ kind: 'video', url })] : []
}

/** With the expiry time in its URL. */
export function expiring(file: OutputMedia): OutputMedia {
  const expiresAtMs = file.url.startsWith('data:') ? undefined : expiryOf(new URL(file.url))
  return expiresAtMs === undefined ? file : { ...file, expiresAtMs }
}

function expiryOf(url: URL): number | undefined {
  for (const [name, value] of url.searchParams) {
    if (name.toLowerCase() !== 'expires' || !/^\d{1,12}$/.test(value)) continue
    const seconds = Number(value)
    if (isEpochSeconds(seconds)) return seconds * 1000
  }
  return undefined
}

/** `duration` is what the upstream bills: input and output together. */
export function usageOf(usage: unknown, plainModel: string): TaskUsage {
  if (!isObject(usage)) return {}
  const output = secondsOf(usage['output_video_duration'])
  if (output !== undefined) return { outputSeconds: output }
  const both = secondsOf(usage['duration'])
  const input = usage['input_video_duration']
  const inputSeconds = input == null && !takesVideo(plainModel) ? 0 : secondsOf(input)
  if (both === undefined || inputSeconds === undefined || both < inputSeconds) return {}
  // Rounded, because a difference of fractions is inexact.
  return { outputSeconds: Math.round((both - inputSeconds) * 1000) / 1000 }
}

function secondsOf(value: unknown): number | undefined {
  const digits = typeof value === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(value.trim())
  const seconds = digits ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= maxSeconds)) return undefined
  return seconds
}

/** Whether it is the requested video, as far as its status tells. */
export function isLike(
  { output, usage }: Json,
  { prompt, seconds, resolution, ratio, followsSource }: VideoRequest,
  { plainModel }: TaskUpstream,
): boolean {
  if (!isObject(output) || output['orig_prompt'] !== prompt) return false
  const reported = isObject(usage) ? usage : {}
  const { outputSeconds = seconds } = usageOf(usage, plainModel)
  const { SR: lines = Number.parseInt(resolution, 10), ratio: shape = ratio } = reported
  const isSameSize = Number(lines) === Number.parseInt(resolution, 10)
  const isSameLength = followsSource === true || outputSeconds === seconds
  return isSameLength && isSameSize && (ratio === undefined || shape === ratio)
}
