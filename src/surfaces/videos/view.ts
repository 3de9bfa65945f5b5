// A task as the video object callers of this interface know. Addresses in it are the gateway's own.
import { isEnd, type Task, type TaskState } from '../../contract/task.ts'
import { nativeSize } from '../../contract/video-size.ts'
import type { AnswerHeaders } from '../../http/exchange.ts'

export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** Pollers know these words and no others. */
const statuses: Readonly<Record<TaskState, VideoStatus>> = {
  accepted: 'queued',
  unknown: 'queued',
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const statusOf = ({ state }: Task): VideoStatus => statuses[state]

export const pollSeconds = 2

/** How long to wait before the next look, under each name an SDK looks for. */
export const pollHeaders = (task: Task): AnswerHeaders | undefined =>
  isEnd(task.state)
    ? undefined
    : {
        'retry-after': String(pollSeconds),
        'openai-poll-after-ms': String(pollSeconds * 1_000),
      }

/** How long upstreams keep a result when they do not say. */
const keptMs = 24 * 60 * 60 * 1_000

export function viewOf(task: Task, publicUrl: string): Record<string, unknown> {
  const { id, model, request, finishedAtMs } = task
  return {
    id,
    video_id: id,
    object: 'video',
    model,
    status: statusOf(task),
    progress: progressOf(task),
    created_at: inSeconds(task.createdAtMs),
    completed_at: finishedAtMs === undefined ? null : inSeconds(finishedAtMs),
    expires_at: expiryOf(task),
    seconds: String(request.seconds),
    resolution: request.resolution,
    size: sizeOf(task),
    ...(request.prompt !== '' && { prompt: request.prompt }),
    ...(task.state === 'succeeded' && resultOf(task, publicUrl)),
    error: errorOf(task),
    remixed_from_video_id: null,
    request_id: task.requestId,
  }
}

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

/** Only a video that can be fetched is all there. */
const progressOf = ({ state, progress }: Task): number =>
  state === 'succeeded' ? 100 : Math.min(99, Math.max(0, Math.floor(progress)))

function expiryOf({ state, media, finishedAtMs }: Task): number | null {
  if (state !== 'succeeded') return null
  const video = media.find(({ kind }) => kind === 'video')
  const atMs =
    video?.expiresAtMs ?? (finishedAtMs === undefined ? undefined : finishedAtMs + keptMs)
  return atMs === undefined ? null : inSeconds(atMs)
}

function resultOf({ id, request, usage }: Task, publicUrl: string): object {
  const url = `${publicUrl.replace(/\/+$/, '')}/v1/videos/${id}/content`
  const { outputSeconds, videoTokens } = usage ?? {}
  return {
    url,
    video_url: url,
    metadata: { url },
    usage: {
      ...(outputSeconds !== undefined && { output_seconds: outputSeconds }),
      ...(videoTokens !== undefined && { video_tokens: videoTokens }),
      resolution: request.resolution,
    },
  }
}

function errorOf({ state, error }: Task): { code: string; message: string } | null {
  if (state !== 'failed') return null
  return error === undefined
    ? { code: 'upstream_error', message: 'the video could not be made' }
    : { code: error.code, message: error.message }
}

/** Null when the shape follows the caller's own pictures, which the gateway has not seen. */
function sizeOf({ model, protocol, request }: Task): string | null {
  const { ratio, resolution, media } = request
  if (ratio === undefined && media.length > 0) return null
  if (protocol === 'arkvendor') {
    const size = nativeSize(model, resolution, ratio ?? '16:9')
    return size === undefined ? null : `${size.width}x${size.height}`
  }
  const [across, down] = (ratio ?? '16:9').split(':').map(Number)
  const short = Number.parseInt(resolution, 10)
  if (!across || !down) return null
  const long = Math.round((short * Math.max(across, down)) / Math.min(across, down))
  return across >= down ? `${long}x${short}` : `${short}x${long}`
}
