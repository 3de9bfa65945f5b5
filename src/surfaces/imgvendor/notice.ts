// The callback body of an ended image task: flat, without the envelope.
import type { LinkTo } from '../../contract/caller-api.ts'
import type { ImageTask } from '../../contract/task.ts'
import { infoOf, reasonOf, resultOf, statusOf } from './view.ts'

export function noticeOf(task: ImageTask, linkTo: LinkTo): Record<string, unknown> {
  const status = statusOf(task)
  return {
    task_id: task.id,
    task_status: status,
    task_status_msg: status === 'failed' ? reasonOf(task) : '',
    task_info: infoOf(task),
    created_at: task.createdAtMs,
    updated_at: task.updatedAtMs,
    ...(task.state === 'succeeded' && { task_result: resultOf(task, linkTo) }),
  }
}
