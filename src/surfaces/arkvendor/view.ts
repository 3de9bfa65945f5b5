// A task as the object callers of the native interface know. The addresses in it are the
// gateway's own.
import type { LinkTo } from '../../contract/caller-api.ts'
import { framesPerSecond } from '../../contract/media/video-size.ts'
import type { OutputMedia, TaskState, VideoTask } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { sizeOf } from '../media/size-of.ts'

export const tasksPath = '/arkvendor/api/v3/contents/generations/tasks'

type NativeStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

const statuses: Readonly<Record<TaskState, NativeStatus>> = {
  accepted: 'queued',
  unknown: 'queued',
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const statusOf = ({ state }: VideoTask): NativeStatus => statuses[state]

/** A task that no upstream has named goes by the gateway's name alone. */
export const idsOf = ({ id, upstreamId }: VideoTask) => ({ id: upstreamId ?? id, platform_id: id })

/** What the upstream reported, put right where it is the gateway's to say. */
export function viewOf(task: VideoTask, linkTo: LinkTo): Record<string, unknown> {
  const told = reportOf(task)
  return {
    ...told,
    ...idsOf(task),
    model: task.upstreamModel,
    status: statusOf(task),
    ...(task.state === 'succeeded' && resultOf(task, told, linkTo)),
    ...(task.state === 'failed' && { error: errorOf(task, told) }),
    created_at: wholeIn(told['created_at']) ?? inSeconds(task.createdAtMs),
    updated_at: wholeIn(told['updated_at']) ?? inSeconds(task.updatedAtMs),
  }
}

type Told = Readonly<Record<string, unknown>>

/** Other upstreams report in words that mean nothing here. */
function reportOf({ protocol, reported }: VideoTask): Told {
  if (protocol !== 'arkvendor' || !isObject(reported)) return {}
  const { content: _, error: __, usage: ___, ...rest } = reported
  const kept = Object.entries(rest).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(kept), ...partsOf(reported) }
}

/** Those that are rebuilt: what is not an object is left out. */
const partsOf = (reported: Told): Told =>
  Object.fromEntries(
    ['content', 'error', 'usage']
      .filter((name) => isObject(reported[name]))
      .map((name) => [name, reported[name]]),
  )

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

const objectIn = (value: unknown): Told => (isObject(value) ? value : {})

const wholeIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

const positiveIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The gateway's word for it, as on every interface, and the upstream's beside it. */
function errorOf({ error }: VideoTask, { error: told }: Told) {
  const { code, message: _, ...rest } = objectIn(told)
  return {
    ...rest,
    code: error?.code ?? 'upstream_error',
    message: error?.message ?? 'the video could not be made',
    ...(textOf(code) !== undefined && { upstream_code: code }),
  }
}

function resultOf(task: VideoTask, told: Told, linkTo: LinkTo): object {
  const partOf = (wanted: OutputMedia['kind']) =>
    task.media.findIndex(({ kind }) => kind === wanted)
  const frame = partOf('image')
  const content = objectIn(told['content'])
  const resolution = textOf(told['resolution']) ?? task.request.resolution
  const size = sizeOf(task, { ratio: textOf(told['ratio']), resolution })
  const width = wholeIn(content['width']) ?? wholeIn(told['width']) ?? size?.width
  const height = wholeIn(content['height']) ?? wholeIn(told['height']) ?? size?.height
  return {
    content: {
      ...content,
      video_url: linkTo(task, partOf('video')),
      ...(frame !== -1 && { last_frame_url: linkTo(task, frame) }),
      ...(width !== undefined && { width }),
      ...(height !== undefined && { height }),
    },
    resolution,
    ...lengthOf(task, told),
    ...usageOf(task, objectIn(told['usage'])),
  }
}

/** As reported; else frames by rate, exactly; else what was asked for. */
function lengthOf({ usage, request }: VideoTask, told: Told) {
  const rate = positiveIn(told['framespersecond']) ?? framesPerSecond
  const frames = positiveIn(told['frames']) ?? positiveIn(request.native?.body['frames'])
  const reported = positiveIn(told['duration']) ?? usage?.outputSeconds
  const asked = frames === undefined ? request.seconds : frames / rate
  return { duration: reported ?? asked, framespersecond: rate }
}

/** Both names of what is charged for, and the total as it was reported. */
function usageOf({ usage }: VideoTask, told: Told) {
  const tokens = usage?.videoTokens
  if (tokens === undefined) return {}
  const reported = (name: string) => wholeIn(told[name]) ?? tokens
  return {
    usage: {
      ...told,
      completion_tokens: reported('completion_tokens'),
      total_tokens: reported('total_tokens'),
      video_tokens: tokens,
    },
  }
}
