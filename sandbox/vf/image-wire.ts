// Images in the shapes of the vf protocol: in an answer given at once, and as the results of a
// task.
import type { Directives } from '../http/directives.ts'
import { addressesOf, deliveredCount } from '../media/image-request.ts'
import { imageFailure } from './errors.ts'
import type { ImageInput } from './image-request.ts'

interface Made {
  image: ImageInput
  directives: Directives
  origin: string
  madeMs: number
}

export function answeredBody(made: Made, requestId: string) {
  const { image, directives } = made
  const content = addressesOf(image, directives, made).map((address) => ({ image: address }))
  const choice = { finish_reason: 'stop', message: { role: 'assistant', content } }
  const { width, height } = image
  const usage = { image_count: content.length, width, height }
  const reported = directives.noUsage ? {} : { usage }
  return { output: { choices: [choice] }, ...reported, request_id: requestId }
}

/** What a finished task has besides its times: one item for every image that was asked for. */
export function resultsOf(made: Made) {
  const { image, directives } = made
  const urls = addressesOf(image, directives, made)
  const wanted = directives.noOutput ? 0 : image.count
  const lost = Array.from({ length: wanted - urls.length }, () => imageFailure)
  const metrics = { TOTAL: image.count, SUCCEEDED: urls.length, FAILED: image.count - urls.length }
  return { results: [...urls.map((url) => ({ url })), ...lost], task_metrics: metrics }
}

export const imageUsage = (image: ImageInput, directives: Directives) => ({
  image_count: deliveredCount(image, directives),
})
