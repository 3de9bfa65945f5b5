// A task as the object of the native interface. File addresses are the gateway's own.

import type { LinkTo } from '../../contract/caller-api.ts'
import { answerWithoutCosts } from '../../contract/cost-fields.ts'
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

/** The upstream's id; the gateway's own while there is none. */
export const idsOf = ({ id, upstreamId }: VideoTask) => ({ id: upstreamId ?? id, platform_id: id })

/** The upstream's report, with the fields that the gateway decides. */
export function viewOf(task: VideoTask, linkTo: LinkTo): Record<string, unknown> {
  const report = reportOf(task)
  return {
    ...report,
    ...idsOf(task),
    model: task.upstreamModel,
    status: statusOf(task),
    ...(task.state === 'succeeded' && resultOf(task, report, linkTo)),
    ...(task.state === 'failed' && { error: errorOf(task, report) }),
    created_at: wholeIn(report['created_at']) ?? inSeconds(task.createdAtMs),
    updated_at: wholeIn(report['updated_at']) ?? inSeconds(task.updatedAtMs),
  }
}

type UpstreamReport = Readonly<Record<string, unknown>>

/** Reports of other protocols have other fields. */
function reportOf({ protocol, reported }: VideoTask): UpstreamReport {
  if (protocol !== 'arkvendor' || !isObject(reported)) return {}
  const { content: _, error: __, usage: ___, ...rest } = answerWithoutCosts(reported)
  const kept = Object.entries(rest).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(kept), ...partsOf(answerWithoutCosts(reported)) }
}

/** Fields that are rebuilt; anything but an object is left out. */
const partsOf = (reported: UpstreamReport): UpstreamReport =>
  Object.fromEntries(
    ['content', 'error', 'usage']
      .filter((name) => isObject(reported[name]))
      .map((name) => [name, reported[name]]),
  )

const inSeconds = (ms: number): number => Math.floor(ms / 1_000)

const objectIn = (value: unknown): UpstreamReport => (isObject(value) ? value : {})

const wholeIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

const positiveIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The gateway's error code, as on every interface, beside the upstream's. */
function errorOf({ error }: VideoTask, { error: report }: UpstreamReport) {
  const { code, message: _, ...rest } = objectIn(report)
  return {
    ...rest,
    code: error?.code ?? 'upstream_error',
    message: error?.message ?? 'the video could not be made',
    ...(textOf(code) !== undefined && { upstream_code: code }),
  }
}

function resultOf(task: VideoTask, report: UpstreamReport, linkTo: LinkTo): object {
  const partOf = (wanted: OutputMedia['kind']) =>
    task.media.findIndex(({ kind }) => kind === wanted)
  const frame = partOf('image')
  const content = objectIn(report['content'])
  const resolution = textOf(report['resolution']) ?? task.request.resolution
  const size = sizeOf(task, { ratio: textOf(report['ratio']), resolution })
  const width = wholeIn(content['width']) ?? wholeIn(report['width']) ?? size?.width
  const height = wholeIn(content['height']) ?? wholeIn(report['height']) ?? size?.height
  return {
    content: {
      ...content,
      video_url: linkTo(task, partOf('video')),
      ...(frame !== -1 && { last_frame_url: linkTo(task, frame) }),
      ...(width !== undefined && { width }),
      ...(height !== undefined && { height }),
    },
    resolution,
    ...lengthOf(task, report),
    ...usageOf(task, objectIn(report['usage'])),
  }
}

/** As reported; otherwise frames divided by the rate; otherwise as requested. */
function lengthOf({ usage, request }: VideoTask, report: UpstreamReport) {
  const rate = positiveIn(report['framespersecond']) ?? framesPerSecond
  const frames = positiveIn(report['frames']) ?? positiveIn(request.native?.body['frames'])
  const reported = positiveIn(report['duration']) ?? usage?.outputSeconds
  const asked = frames === undefined ? request.seconds : frames / rate
  return { duration: reported ?? asked, framespersecond: rate }
}

/** The charged quantity under both names, and the total as reported. */
function usageOf({ usage }: VideoTask, report: UpstreamReport) {
  const tokens = usage?.videoTokens
  if (tokens === undefined) return {}
  const reported = (name: string) => wholeIn(report[name]) ?? tokens
  return {
    usage: {
      ...report,
      completion_tokens: reported('completion_tokens'),
      total_tokens: reported('total_tokens'),
      video_tokens: tokens,
    },
  }
}
