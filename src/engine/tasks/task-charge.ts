// What a video costs: what is set aside for it, and what it comes to. Seconds or video tokens, as
// the price says; the upstream's count decides, within the hold.
import { chargeSeconds, chargeVideoTokens } from '../../billing/charge.ts'
import type { TaskSettlement } from '../../billing/ledger.ts'
import type { PriceTerms } from '../../contract/price.ts'
import type { Task, VideoRequest, VideoUsage } from '../../contract/task.ts'
import { estimateTokens, picturesIn } from '../../contract/video-size.ts'
import { ensure } from '../../lib/ensure.ts'

/** Tokens are counted by the upstream in its own way: a tenth more than expected is set aside. */
const marginDivisor = 10

/** Undefined when the price has no tier for it. */
export function holdFor(
  terms: PriceTerms,
  model: string,
  request: VideoRequest,
): bigint | undefined {
  return terms.unit === 'video_token'
    ? chargeVideoTokens(terms, heldTokens(tokensExpected(model, request)))
    : chargeSeconds(terms, request.resolution, request.seconds)
}

/** As it was asked for, at the price it was admitted at; never more than was set aside. */
export function settlementFor(terms: PriceTerms, task: Task, usage: VideoUsage): TaskSettlement {
  const byTokens = terms.unit === 'video_token'
  const { quantity, estimated } = (byTokens ? tokensUsed : secondsUsed)(task, usage)
  const chargeNanos = byTokens
    ? chargeVideoTokens(terms, quantity)
    : chargeSeconds(terms, task.request.resolution, quantity)
  ensure(chargeNanos !== undefined, `price ${task.priceId} can charge for task ${task.id}`)
  return {
    taskId: task.id,
    chargeNanos,
    model: task.model,
    unit: byTokens ? 'video_token' : 'video_second',
    quantity,
    priceId: task.priceId,
    ...(estimated && { estimated: true }),
  }
}

function secondsUsed({ request: { seconds } }: Task, { outputSeconds }: VideoUsage) {
  const estimated = outputSeconds === undefined
  return { quantity: Math.min(outputSeconds ?? seconds, seconds), estimated }
}

function tokensUsed({ model, request }: Task, { videoTokens }: VideoUsage) {
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
