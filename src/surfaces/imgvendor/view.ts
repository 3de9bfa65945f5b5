// An image task as an object of this interface, and the envelope around it. File addresses are the
// gateway's own.
import type { LinkTo } from '../../contract/caller-api.ts'
import type { ImageTask, TaskState } from '../../contract/task.ts'

type Status = 'submitted' | 'processing' | 'succeed' | 'failed'

const statuses: Readonly<Record<TaskState, Status>> = {
  accepted: 'submitted',
  unknown: 'submitted',
  queued: 'submitted',
  running: 'processing',
  succeeded: 'succeed',
  failed: 'failed',
  cancelled: 'failed',
}

export const statusOf = ({ state }: ImageTask): Status => statuses[state]

export function viewOf(task: ImageTask, linkTo: LinkTo): Record<string, unknown> {
  const watermark = task.request.native?.body['watermark_info']
  return {
    task_id: task.id,
    task_status: statusOf(task),
    ...(statusOf(task) === 'failed' && { task_status_msg: reasonOf(task) }),
    task_info: infoOf(task),
    ...(watermark !== undefined && { watermark_info: watermark }),
    ...(task.state === 'succeeded' && { task_result: resultOf(task, linkTo) }),
    created_at: task.createdAtMs,
    updated_at: task.updatedAtMs,
  }
}

export const envelope = (requestId: string, data: unknown) => ({
  code: 0,
  message: 'success',
  request_id: requestId,
  data,
})

export const infoOf = ({ externalId }: ImageTask) =>
  externalId === undefined ? {} : { external_task_id: externalId }

export const reasonOf = ({ state, error }: ImageTask): string =>
  error?.message ?? (state === 'cancelled' ? 'the task was cancelled' : 'no image could be made')

/** A series is listed under its own name too. */
export function resultOf(task: ImageTask, linkTo: LinkTo) {
  const images = task.media.flatMap(({ kind }, part) =>
    kind === 'image' ? [{ url: linkTo(task, part) }] : [],
  )
  const numbered = images.map(({ url }, index) => ({ index, url }))
  const isSeries = task.request.native?.body['result_type'] === 'series'
  return {
    ...(isSeries && { result_type: 'series' }),
    images: numbered,
    ...(isSeries && { series_images: numbered }),
  }
}
