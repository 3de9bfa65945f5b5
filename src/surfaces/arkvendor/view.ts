// A task as the object callers of the native interface know. The addresses in it are the
// gateway's own.
import type { OutputMedia, TaskState, VideoTask } from '../../contract/task.ts'
import { picturesPerSecond } from '../../contract/video-size.ts'
import type { LinkTo } from '../../engine/tasks/file-links.ts'
import { isObject } from '../../lib/json.ts'
import { sizeOf } from '../media/size-of.ts'

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

export const statusOf = ({ state }: VideoTask): NativeStatus => statuses[state]

/** A task that no upstream has named goes by the gateway's name alone. */
export const idsOf = ({ id, upstreamId }: VideoTask) => ({ id: upstreamId ?? id, platform_id: id })

export function viewOf(task: VideoTask, linkTo: LinkTo): Record<string, unknown> {
  return {
    ...idsOf(task),
    model: task.upstreamModel,
    status: statusOf(task),
    ...(task.state === 'succeeded' && resultOf(task, linkTo)),
    ...(task.state === 'failed' && { error: errorOf(task) }),
    created_at: inSeconds(task.createdAtMs),
    updated_at: inSeconds(task.updatedAtMs),
  }
}

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

const errorOf = ({ error }: VideoTask) => ({
  code: error?.code ?? 'upstream_error',
  message: error?.message ?? 'the video could not be made',
})

function resultOf(task: VideoTask, linkTo: LinkTo): object {
  const partOf = (wanted: OutputMedia['kind']) =>
    task.media.findIndex(({ kind }) => kind === wanted)
  const frame = partOf('image')
  const told = isObject(task.reported) ? task.reported : {}
  const { videoTokens: tokens, outputSeconds } = task.usage ?? {}
  const rate = told['framespersecond']
  return {
    content: {
      video_url: linkTo(task, partOf('video')),
      ...(frame !== -1 && { last_frame_url: linkTo(task, frame) }),
      ...sizeOf(task, textOf(told['ratio'])),
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

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
