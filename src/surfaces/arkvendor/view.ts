// A task as the object callers of the native interface know. The addresses in it are the
// gateway's own.
import type { Task, TaskState } from '../../contract/task.ts'
import { nativeSize, picturesPerSecond, type Size } from '../../contract/video-size.ts'
import { isObject } from '../../lib/json.ts'

export const tasksPath = '/arkvendor/api/v3/contents/generations/tasks'

export type NativeStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

const statuses: Readonly<Record<TaskState, NativeStatus>> = {
  accepted: 'queued',
  unknown: 'queued',
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** What an upstream tells of its settings, passed on as it stands. */
const echoed = ['seed', 'resolution', 'ratio', 'frames', 'generate_audio', 'draft', 'service_tier']

export const statusOf = ({ state }: Task): NativeStatus => statuses[state]

/** A task that no upstream has named goes by the gateway's name alone. */
export const idsOf = ({ id, upstreamId }: Task) => ({ id: upstreamId ?? id, platform_id: id })

export function viewOf(task: Task, publicUrl: string): Record<string, unknown> {
  return {
    ...idsOf(task),
    model: task.upstreamModel,
    status: statusOf(task),
    ...(task.state === 'succeeded' && resultOf(task, publicUrl)),
    ...(task.state === 'failed' && { error: errorOf(task) }),
    created_at: inSeconds(task.createdAtMs),
    updated_at: inSeconds(task.updatedAtMs),
  }
}

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

const errorOf = ({ error }: Task) => ({
  code: error?.code ?? 'upstream_error',
  message: error?.message ?? 'the video could not be made',
})

function resultOf(task: Task, publicUrl: string): object {
  const base = publicUrl.replace(/\/+$/, '')
  const hasFrame = task.media.some(({ kind }) => kind === 'image')
  const told = isObject(task.reported) ? task.reported : {}
  const { videoTokens: tokens, outputSeconds } = task.usage ?? {}
  const rate = told['framespersecond']
  return {
    content: {
      video_url: `${base}/v1/videos/${task.id}/content`,
      ...(hasFrame && { last_frame_url: `${base}${tasksPath}/${task.id}/last_frame` }),
      ...sizeOf(task, told),
    },
    duration: outputSeconds ?? task.request.seconds,
    framespersecond: typeof rate === 'number' ? rate : picturesPerSecond,
    ...(tokens !== undefined && {
      usage: { completion_tokens: tokens, total_tokens: tokens, video_tokens: tokens },
    }),
    ...Object.fromEntries(
      echoed.filter((name) => told[name] != null).map((name) => [name, told[name]]),
    ),
  }
}

/** Undefined when the shape follows the caller's own pictures and nobody told how. */
function sizeOf(task: Task, told: Readonly<Record<string, unknown>>): Size | undefined {
  const { resolution, ratio, media } = task.request
  const shape = textOf(told['ratio']) ?? ratio ?? (media.length > 0 ? 'adaptive' : '16:9')
  if (task.protocol === 'arkvendor') return nativeSize(task.model, resolution, shape)
  const [across, down] = shape.split(':').map(Number)
  if (!across || !down) return undefined
  const short = Number.parseInt(resolution, 10)
  const long = Math.round((short * Math.max(across, down)) / Math.min(across, down))
  return across >= down ? { width: long, height: short } : { width: short, height: long }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
