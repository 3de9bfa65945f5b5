// Converts the upstream's task status. Pure: a parsed answer in, a report out.
import type { TaskReport } from '../../contract/provider.ts'
import type { OutputMedia } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure } from '../common/errors.ts'
import { noReason } from '../tasks/errors.ts'
import { textOf } from '../tasks/fields.ts'
import { imageAt } from '../tasks/images.ts'
import type { Json } from '../tasks/read-reply.ts'
import { reportUnknown, stateOf, wordOf } from '../tasks/states.ts'
import { isRefusal } from './errors.ts'

/** A failed task has no number, only a message. */
const policy = /risk control|sensitive|inappropriate|(?:content|safety|platform) polic|moderation/i

export const taskIn = ({ data }: Json): Json => (isObject(data) ? data : {})

/** Undefined when it is no task status. */
export function readReport(body: Json, requestId: string | undefined): TaskReport | undefined {
  const task = taskIn(body)
  const word = wordOf(textOf(task['task_status']))
  if (isRefusal(body) || word === '') return undefined
  const state = stateOf(word)
  if (state === undefined) return reportUnknown(textOf(task['task_status']))
  // Without URLs, and without fields that the caller never sent.
  const { task_result, task_info: _, ...raw } = task
  if (state === 'succeeded') {
    const media = mediaOf(task_result)
    return { state, media, usage: { images: media.length }, raw }
  }
  if (state === 'failed') {
    const message = textOf(task['task_status_msg'])
    const code = policy.test(message) ? 'content_policy_violation' : 'upstream_error'
    return { state, error: failure(code, message || noReason, requestId), raw }
  }
  return { state }
}

/** A series is in a list of its own, sometimes next to one with the same images. */
function mediaOf(result: unknown): OutputMedia[] {
  if (!isObject(result)) return []
  const single = framesIn(result['images'])
  const series = framesIn(result['series_images'])
  const isSeries = result['result_type'] === 'series' || single.length === 0
  return isSeries && series.length > 0 ? series : single
}

function framesIn(list: unknown): OutputMedia[] {
  const rows = Array.isArray(list) ? list.filter(isObject) : []
  return rows
    .map(({ index, url }, at) => ({ at: typeof index === 'number' ? index : at, url }))
    .sort((one, other) => one.at - other.at)
    .map(({ url }) => imageAt(textOf(url)))
    .filter((image) => image !== undefined)
}
