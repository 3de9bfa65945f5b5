// Converts the upstream's image results, from the answer to a create or from a task status. Pure: a
// parsed answer in, a report out.
import type { TaskReport, TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest, OutputMedia } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { textOf } from '../tasks/fields.ts'
import { imageAt } from '../tasks/images.ts'
import type { Json } from '../tasks/read-reply.ts'
import type { FinishedReport } from '../tasks/style.ts'
import { failureOf } from './errors.ts'
import { expiring, readAccount } from './task-report.ts'

/** The answer of the synchronous service; undefined when it is none. */
export function readAtOnce({ output, usage }: Json): FinishedReport | undefined {
  if (!isObject(output) || !Array.isArray(output['choices'])) return undefined
  const media = framesIn(output)
  return { state: 'succeeded', media, usage: { images: media.length }, raw: usage }
}

/** A task status. Images fail one by one: when all did, the task has failed. */
export function readImageReport(body: Json, requestId: string | undefined): TaskReport | undefined {
  const report = readAccount(body, requestId, (output) => {
    const media = framesIn(output)
    return { media, usage: { images: media.length } }
  })
  if (report?.state !== 'succeeded' || report.media.length > 0) return report
  const failed = resultsIn(body['output']).find(({ code }) => textOf(code) !== '')
  if (failed === undefined) return report
  const { code, message } = failed
  return { state: 'failed', error: failureOf(failed, requestId), raw: { code, message } }
}

/** Whether these are the requested images, as far as their status tells. */
export function isAlike({ output, usage }: Json, request: ImageRequest, _: TaskUpstream): boolean {
  if (!isObject(output)) return false
  const results = resultsIn(output)
  const named = [output, ...results].find(({ orig_prompt }) => orig_prompt !== undefined)
  const { width, height } = isObject(usage) ? usage : {}
  const { size = { width, height } } = request
  return (
    named?.['orig_prompt'] === request.prompt &&
    results.length === request.count &&
    (width === undefined || width === size.width) &&
    (height === undefined || height === size.height)
  )
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

const resultsIn = (output: unknown): Json[] => (isObject(output) ? listOf(output['results']) : [])

/** Tasks of the older services have a list of results; all others, what a model says. */
function framesIn(output: Json): OutputMedia[] {
  const said = listOf(output['choices'])
    .flatMap(({ message }) => (isObject(message) ? listOf(message['content']) : []))
    .map(({ image }) => textOf(image))
  const listed = resultsIn(output).map(({ url }) => textOf(url))
  return [...said, ...listed]
    .map(imageAt)
    .filter((image) => image !== undefined)
    .map(expiring)
}
