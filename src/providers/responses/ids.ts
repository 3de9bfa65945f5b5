// Ids of objects stored upstream, in a response and in the events of its stream.
import { isObject } from '../../lib/json/parse.ts'
import type { IdMarks } from '../text/id-marks.ts'
import type { Json } from '../text/style.ts'

/** Ids of a response and of its items. */
export function learnResponse(response: Json, marks: IdMarks): void {
  marks.learn(response['id'])
  marks.learn(response['previous_response_id'])
  const { output } = response
  if (!Array.isArray(output)) return
  for (const item of output) if (isObject(item)) marks.learn(item['id'])
}

export function learnEvent(data: Json, marks: IdMarks): void {
  const { response, item } = data
  if (isObject(response)) learnResponse(response, marks)
  if (isObject(item)) marks.learn(item['id'])
}
