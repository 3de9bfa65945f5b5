// Images of the imga family. The upstream has three services for them; the model's name there
// selects one:
//
//   …t2i, …i2i below 2.6   text2image, image2image: a task, polled like a video's
//   all others             multimodal-generation: the answer has the images
//
// An answer that names a task nevertheless is polled as one.
import type { TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { textOf } from '../tasks/fields.ts'
import type { CreateRequest, Problem, TaskStyle } from '../tasks/style.ts'
import { findTask } from './find-task.ts'
import { isAlike, readAtOnce, readImageReport } from './image-report.ts'
import { later, sharedStyle, urlsFor } from './shared-style.ts'

const services = '/api/v1/services/aigc'
const name = /(?:^|[-_])(t2i|i2i)(?:[-_]|$)/
const generation = /(\d+\.\d+)[-_](?:t2i|i2i)/
/** From this version on they use the common service. */
const newGeneration = 2.6
/** An image in Base64, in case one comes instead of its URL. */
const maxAnswerBytes = 64 * 1024 * 1024
/** Proxy time-outs: the images may or may not have been made. */
const lapses: ReadonlySet<number> = new Set([408, 499, 504])

/** Undefined where the answer has the images. */
function taskService({ model }: Pick<TaskUpstream, 'model'>): 't2i' | 'i2i' | undefined {
  const kind = name.exec(model)?.[1] as 't2i' | 'i2i' | undefined
  return Number(generation.exec(model)?.[1] ?? 0) < newGeneration ? kind : undefined
}

function buildRequest(request: ImageRequest, upstream: TaskUpstream): CreateRequest | Problem {
  const { prompt, negativePrompt, media } = request
  const { baseUrl, model } = upstream
  const service = taskService(upstream)
  const images = media.map(({ url }) => url)
  const parameters = parametersFor(request)
  const without = negativePrompt !== undefined && { negative_prompt: negativePrompt }
  if (service === undefined) {
    const content = [...images.map((image) => ({ image })), { text: prompt }]
    const input = { messages: [{ role: 'user', content }] }
    const body = { model, input, parameters: { ...parameters, ...without } }
    return { url: `${baseUrl}${services}/multimodal-generation/generation`, body }
  }
  if (service === 't2i' && images.length > 0) {
    return { problem: 'this model draws from text alone and has no use for pictures' }
  }
  const path = service === 't2i' ? 'text2image' : 'image2image'
  const input = { prompt, ...(images.length > 0 && { images }), ...without }
  const url = `${baseUrl}${services}/${path}/image-synthesis`
  return { url, headers: later, body: { model, input, parameters } }
}

const parametersFor = ({ size, count, seed }: ImageRequest) => ({
  ...(size !== undefined && { size: `${size.width}*${size.height}` }),
  n: count,
  // The upstream's own default adds a watermark on some models.
  watermark: false,
  prompt_extend: true,
  ...(seed !== undefined && { seed }),
})

export const imageStyle: TaskStyle<ImageRequest> = {
  ...sharedStyle,
  buildRequest,
  maxAnswerBytes,
  // From a synchronous service an error is final, whatever the status.
  verdict: ({ answer, body }, upstream) =>
    taskService(upstream) === undefined &&
    textOf(body?.['code']) !== '' &&
    !lapses.has(answer.status)
      ? 'refused'
      : undefined,
  atOnce: readAtOnce,
  report: (body, _upstream, requestId) => readImageReport(body, requestId),
  find: async (lost, upstream, ask) =>
    taskService(upstream) === undefined
      ? { kind: 'found', by: 'likeness', upstreamIds: [] }
      : findTask(lost, upstream, urlsFor(upstream), ask, isAlike),
}
