// Tasks in the shapes of the imgvendor protocol. Times are milliseconds.
import { addressesOf, deliveredCount } from '../media/image-request.ts'
import type { TaskInput } from '../tasks/task-id.ts'
import type { SandboxTask, SandboxTaskState } from '../tasks/task-memory.ts'
import { failureWords } from './errors.ts'
import type { ImageInput } from './request.ts'

export interface ImgInput extends TaskInput {
  image: ImageInput
}

export type ImgTask = SandboxTask<ImgInput>

/** Nothing can be cancelled here. */
const statusWords: Readonly<Record<SandboxTaskState, string>> = {
  queued: 'submitted',
  running: 'processing',
  succeeded: 'succeed',
  failed: 'failed',
  cancelled: 'failed',
}

export const envelope = (data: unknown, requestId: string) => ({
  code: 0,
  message: 'success',
  request_id: requestId,
  data,
})

export const createdTask = (task: ImgTask) => ({
  task_id: task.id,
  task_status: 'submitted',
  task_info: infoOf(task),
  created_at: task.createdMs,
  updated_at: task.createdMs,
})

export function taskView(task: ImgTask, state: SandboxTaskState, origin: string) {
  const { image, directives } = task.input
  const view = {
    task_id: task.id,
    task_status: statusWords[state],
    task_status_msg: state === 'failed' ? failureWords(directives.fail) : '',
    task_info: infoOf(task),
    watermark_info: { enabled: image.hasWatermark },
    created_at: task.createdMs,
    updated_at: Math.floor(changedMs(task, state)),
  }
  if (state !== 'succeeded') return view
  // In words, as the vendor has it.
  const units = { final_unit_deduction: String(deliveredCount(image, directives)) }
  return {
    ...view,
    ...(!directives.noUsage && units),
    task_result: resultOf(task, origin),
  }
}

function resultOf({ input, endsMs }: ImgTask, origin: string) {
  const { image, directives } = input
  const made = addressesOf(image, directives, { origin, madeMs: endsMs }).map((url, index) => ({
    index,
    url,
    ...(image.hasWatermark && { watermark_url: url }),
  }))
  if (image.path === 'generations') return { images: made }
  return image.isSeries
    ? { result_type: 'series', series_images: made }
    : { result_type: 'single', images: made }
}

const infoOf = ({ input }: ImgTask): object =>
  input.image.externalId === undefined ? {} : { external_task_id: input.image.externalId }

function changedMs(task: ImgTask, state: SandboxTaskState): number {
  if (state === 'queued') return task.createdMs
  return state === 'running' ? task.startsMs : task.endsMs
}
