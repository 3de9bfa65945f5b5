// Tasks in the shapes of the vf protocol. Times are China's, without a zone.
import { mediaAddress } from '../media/media-address.ts'
import type { TaskInput } from '../tasks/task-id.ts'
import type { SandboxTask, SandboxTaskState } from '../tasks/task-memory.ts'
import { failureWords } from './errors.ts'
import type { ImageInput } from './image-request.ts'
import { imageUsage, resultsOf } from './image-wire.ts'
import type { VideoInput } from './request.ts'

export type VfInput = TaskInput & VfWork
export type VfWork = { thing: 'video'; video: VideoInput } | { thing: 'image'; image: ImageInput }

type VfTask = SandboxTask<VfInput>

const mediaLifeMs = 24 * 3_600_000
const zoneMs = 8 * 3_600_000

export const statusWords: Readonly<Record<SandboxTaskState, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
}

export function createdBody(task: VfTask, requestId: string) {
  return { output: { task_status: 'PENDING', task_id: task.id }, request_id: requestId }
}

export const unknownBody = (taskId: string, requestId: string) => ({
  request_id: requestId,
  output: { task_id: taskId, task_status: 'UNKNOWN' },
})

export function taskBody(task: VfTask, state: SandboxTaskState, requestId: string, origin: string) {
  const { thing, directives } = task.input
  const begun =
    state === 'queued' || state === 'cancelled' ? {} : { scheduled_time: clock(task.startsMs) }
  const output = {
    task_id: task.id,
    task_status: statusWords[state],
    submit_time: clock(task.createdMs),
    ...begun,
  }
  if (state === 'queued' || state === 'running') return { request_id: requestId, output }
  const ended = { ...output, end_time: clock(task.cancelledMs ?? task.endsMs) }
  if (state === 'cancelled') return { request_id: requestId, output: ended }
  if (state === 'failed') {
    const failed = { ...ended, ...failureWords(directives.fail, thing) }
    return { request_id: requestId, output: failed }
  }
  const { prompt, result, usage } = outcomeOf(task, origin)
  const words = prompt === undefined ? {} : { orig_prompt: prompt, actual_prompt: prompt }
  const reported = directives.noUsage ? {} : { usage }
  return { request_id: requestId, output: { ...ended, ...words, ...result }, ...reported }
}

function outcomeOf({ input, endsMs }: VfTask, origin: string) {
  const { directives } = input
  if (input.thing === 'image') {
    const { image } = input
    const result = resultsOf({ image, directives, origin, madeMs: endsMs })
    return { prompt: image.prompt, result, usage: imageUsage(image, directives) }
  }
  const { width, height, seconds, videoSeed: seed, prompt } = input.video
  const expires = Math.floor((endsMs + mediaLifeMs) / 1000)
  const result = { video_url: mediaAddress(origin, { width, height, seconds, seed }, expires) }
  return { prompt, result, usage: usageOf(input.video) }
}

/** `duration` is what this upstream bills: what went in and what came out. */
function usageOf({ seconds, inputSeconds, lines, ratio }: VideoInput) {
  return {
    duration: inputSeconds + seconds,
    input_video_duration: inputSeconds,
    output_video_duration: seconds,
    video_count: 1,
    SR: lines,
    ratio,
  }
}

export function listedTask(task: VfTask, state: SandboxTaskState) {
  const ended = state !== 'queued' && state !== 'running'
  return {
    task_id: task.id,
    request_id: task.input.callId,
    model_name: task.input.model,
    status: statusWords[state],
    gmt_create: task.createdMs,
    start_time: task.createdMs,
    ...(ended && { end_time: Math.floor(task.cancelledMs ?? task.endsMs) }),
  }
}

/** 0 -> 1970-01-01 08:00:00.000 */
const clock = (ms: number): string =>
  new Date(ms + zoneMs).toISOString().replace('T', ' ').replace('Z', '')
