// A task as a video object of this interface. File addresses are the gateway's own.
import type { LinkTo } from '../../contract/caller-api.ts'
import { expiryOf, isEnd, type TaskState, type VideoTask } from '../../contract/task.ts'
import type { AnswerHeaders } from '../../http/request-context.ts'
import { sizeTextOf } from '../media/size-of.ts'

type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** Clients that poll know only these states. */
const statuses: Readonly<Record<TaskState, VideoStatus>> = {
  accepted: 'queued',
  unknown: 'queued',
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const statusOf = ({ state }: VideoTask): VideoStatus => statuses[state]

export const pollSeconds = 2

/** How long to wait before the next poll, under each name an SDK reads. */
export const pollHeaders = (task: VideoTask): AnswerHeaders | undefined =>
  isEnd(task.state)
    ? undefined
    : {
        'retry-after': String(pollSeconds),
        'openai-poll-after-ms': String(pollSeconds * 1_000),
      }

export function viewOf(task: VideoTask, linkTo: LinkTo): Record<string, unknown> {
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
    expires_at: expiryIn(task),
    seconds: String(secondsOf(task)),
    resolution: request.resolution,
    size: sizeTextOf(task) ?? null,
    ...(request.prompt !== '' && { prompt: request.prompt }),
    ...(task.state === 'succeeded' && resultOf(task, linkTo)),
    error: errorOf(task),
    remixed_from_video_id: null,
    request_id: task.requestId,
  }
}

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

/** A video that is as long as its source has the reported length, once there is one. */
const secondsOf = ({ request, usage }: VideoTask): number =>
  request.followsSource === true ? (usage?.outputSeconds ?? request.seconds) : request.seconds

/** Only a video that can be fetched is complete. */
const progressOf = ({ state, progress }: VideoTask): number =>
  state === 'succeeded' ? 100 : Math.min(99, Math.max(0, Math.floor(progress)))

const videoIn = ({ media }: VideoTask): number => media.findIndex(({ kind }) => kind === 'video')

const expiryIn = (task: VideoTask): number | null =>
  task.state === 'succeeded' ? inSeconds(expiryOf(task, task.media[videoIn(task)] ?? {})) : null

function resultOf(task: VideoTask, linkTo: LinkTo): object {
  const url = linkTo(task, videoIn(task))
  const { outputSeconds, videoTokens } = task.usage ?? {}
  return {
    url,
    video_url: url,
    metadata: { url },
    usage: {
      ...(outputSeconds !== undefined && { output_seconds: outputSeconds }),
      ...(videoTokens !== undefined && { video_tokens: videoTokens }),
      resolution: task.request.resolution,
    },
  }
}

function errorOf({ state, error }: VideoTask): { code: string; message: string } | null {
  if (state !== 'failed') return null
  return error === undefined
    ? { code: 'upstream_error', message: 'the video could not be made' }
    : { code: error.code, message: error.message }
}
