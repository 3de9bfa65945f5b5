// What a task costs: what is set aside for it, and what it comes to. Seconds or video tokens, as the
// price says, and by the upstream's count; pictures by how many were delivered. Within the hold.
import { chargeImages, chargeSeconds, chargeVideoTokens } from '../../billing/charge.ts'
import type { TaskSettlement } from '../../billing/end-hold.ts'
import { imageTier } from '../../contract/image-size.ts'
import type { PriceTerms } from '../../contract/price.ts'
import type {
  ImageRequest,
  ImageTask,
  Task,
  TaskUsage,
  VideoRequest,
  VideoTask,
} from '../../contract/task.ts'
import { estimateTokens, picturesIn } from '../../contract/video-size.ts'
import { ensure } from '../../lib/ensure.ts'

/** Tokens are counted by the upstream in its own way: a tenth more than expected is set aside. */
const marginDivisor = 10

/** Undefined when the price has no tier for it. */
export function holdFor(
  terms: PriceTerms,
  model: string,
  asked: Pick<VideoTask, 'kind' | 'request'> | Pick<ImageTask, 'kind' | 'request'>,
): bigint | undefined {
  if (asked.kind === 'image') {
    return chargeImages(terms, asked.request.count, tierOf(terms, asked.request))
  }
  const { request } = asked
  return terms.unit === 'video_token'
    ? chargeVideoTokens(terms, heldTokens(tokensExpected(model, request)))
    : chargeSeconds(terms, request.resolution, request.seconds)
}

/** As it was asked for, at the price it was admitted at; never more than was set aside. */
export function settlementFor(terms: PriceTerms, task: Task, usage: TaskUsage): TaskSettlement {
  return task.kind === 'image' ? picturesFor(terms, task, usage) : filmFor(terms, task, usage)
}

function picturesFor(terms: PriceTerms, task: ImageTask, { pictures = 0 }: TaskUsage) {
  const quantity = Math.min(pictures, task.request.count)
  const tier = tierOf(terms, task.request)
  const chargeNanos = chargeImages(terms, quantity, tier)
  ensure(chargeNanos !== undefined, `price ${task.priceId} can charge for task ${task.id}`)
  const { id: taskId, tokenId, model, priceId } = task
  const size = tier !== undefined && { tier }
  return { taskId, tokenId, chargeNanos, model, unit: 'image', ...size, quantity, priceId }
}

/** A size follows from the request and the price, and neither ever changes. */
const tierOf = (terms: PriceTerms, request: ImageRequest) =>
  terms.unit === 'image' ? imageTier(terms, request) : undefined

function filmFor(terms: PriceTerms, task: VideoTask, usage: TaskUsage): TaskSettlement {
  const byTokens = terms.unit === 'video_token'
  const { quantity, estimated } = (byTokens ? tokensUsed : secondsUsed)(task, usage)
  const chargeNanos = byTokens
    ? chargeVideoTokens(terms, quantity)
    : chargeSeconds(terms, task.request.resolution, quantity)
  ensure(chargeNanos !== undefined, `price ${task.priceId} can charge for task ${task.id}`)
  return {
    taskId: task.id,
    tokenId: task.tokenId,
    chargeNanos,
    model: task.model,
    unit: byTokens ? 'video_token' : 'video_second',
    ...(!byTokens && { tier: task.request.resolution }),
    quantity,
    priceId: task.priceId,
    ...(estimated && { estimated: true }),
  }
}

function secondsUsed({ request: { seconds } }: VideoTask, { outputSeconds }: TaskUsage) {
  const estimated = outputSeconds === undefined
  const used = Math.min(outputSeconds ?? seconds, seconds)
  // To the thousandth, as it is charged: then quantities add up to what their charges come to.
  return { quantity: Math.round(used * 1000) / 1000, estimated }
}

function tokensUsed({ model, request }: VideoTask, { videoTokens }: TaskUsage) {
  const expected = tokensExpected(model, request)
  const estimated = videoTokens === undefined
  return { quantity: Math.min(videoTokens ?? expected, heldTokens(expected)), estimated }
}

const heldTokens = (expected: number): number => expected + Math.ceil(expected / marginDivisor)

function tokensExpected(model: string, request: VideoRequest): number {
  const { native, resolution, seconds, media } = request
  if (native !== undefined) return native.estimatedTokens
  const ratio = request.ratio ?? (media.length > 0 ? 'adaptive' : '16:9')
  return estimateTokens(model, resolution, ratio, picturesIn(seconds))
}
