// What a task costs. Videos by seconds or video tokens, as the price says, and by the upstream's
// count; images by how many were delivered, or by tokens; responses by tokens. A hold is the maximum cost of a request; a charge is
// for what was delivered, capped by what the model can make.
import {
  chargeImages,
  chargeSeconds,
  chargeTokens,
  chargeVideoTokens,
} from '../../billing/charge.ts'
import { tierLabel } from '../../billing/charge-label.ts'
import { timesFactor } from '../../billing/cost.ts'
import type { TaskSettlement } from '../../billing/end-hold.ts'
import { maxChargeTokens } from '../../billing/max-charge.ts'
import type { CostBook } from '../../billing/prices/cost-book.ts'
import type { ResponseCreate, VideoParams } from '../../contract/caller-api.ts'
import { imageTier } from '../../contract/media/image-size.ts'
import { estimateTokens, framesIn } from '../../contract/media/video-size.ts'
import type { PriceTerms, RateName } from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import {
  type ImageRequest,
  type ImageTask,
  type ResponseTask,
  servingModel,
  type Task,
  type TaskUsage,
  type VideoBound,
  type VideoRequest,
  type VideoTask,
} from '../../contract/task.ts'
import { noTokens, type TokenCounts } from '../../contract/usage.ts'
import { ensure } from '../../lib/ensure.ts'
import { maxCharge } from '../admission/server-tools.ts'
import { chargedImageTokens } from './image-tokens.ts'

/** Upstreams count tokens in their own way: the hold is a tenth above the expected count. */
const marginDivisor = 10
/** Tolerance for a video that is slightly longer than requested. */
const slackSeconds = 1
/** Maximum video length of the interfaces that bound it; for an upstream that does not say. */
const maxSeconds = 15

/** Without a resolution from the caller, the more expensive one is made and held for. */
const unnamed = { seconds: 5, resolution: '1080p' } as const
/**
 * Placeholder in a native request until the channel is known, and with it the provider that reads
 * the body.
 */
const unread = { seconds: 5, resolution: '720p' } as const

/** A caller's request, completed: from here on it has a length and a resolution. */
export const asVideoRequest = (params: VideoParams): VideoRequest => ({
  ...(params.native === undefined ? unnamed : unread),
  ...params,
})

/** At the price of this moment. Undefined when the price has no tier for it. */
export function holdFor(
  terms: PriceTerms,
  asked:
    | Pick<VideoTask, 'kind' | 'model' | 'request'>
    | Pick<ImageTask, 'kind' | 'request'>
    | Pick<ResponseCreate, 'kind' | 'request' | 'call'>,
  nowMs: number,
): bigint | undefined {
  const hours = hoursAt(terms, nowMs)
  if (asked.kind === 'response') {
    const { call, request } = asked
    if (terms.unit !== 'token' || request.bounds === undefined) return undefined
    return maxCharge(call, terms, request.bounds, hours === undefined ? undefined : { hours })
  }
  if (asked.kind === 'image') {
    if (terms.unit === 'token') return holdForTokens(terms, asked.request, hours)
    return chargeImages(terms, asked.request.count, tierOf(terms, asked.request), hours)
  }
  const { tokens, seconds, resolution } = boundOf(asked)
  return terms.unit === 'video_token'
    ? chargeVideoTokens(terms, withMargin(tokens), hours)
    : chargeSeconds(terms, resolution, seconds, hours)
}

function holdForTokens(
  terms: PriceTerms,
  { tokenBound, media }: ImageRequest,
  hours: number | undefined,
): bigint {
  ensure(tokenBound !== undefined, 'a request that is priced by tokens has its maximum')
  const rates: RateName[] = ['output_image']
  if (media.length > 0) rates.push('input_image')
  const { inputTokens, outputTokens } = tokenBound
  return maxChargeTokens(terms, inputTokens, outputTokens, { rates, hours })
}

/** The charge of a task, and whether the report exceeds the model's maximum. */
export interface Settled extends TaskSettlement {
  /** The reported usage, where it was rejected. */
  implausible?: number
  /** What was charged for, of images that are priced by tokens. */
  tokens?: TokenCounts
}

/** By what was delivered, at the price of admission. */
export function settlementFor(terms: PriceTerms, task: Task, usage: TaskUsage): Settled {
  const settled = pricedBy(terms, task, usage)
  ensure(settled !== undefined, `price ${task.priceId} can charge for task ${task.id}`)
  return settled
}

function imageTokensFor(terms: PriceTerms, task: ImageTask, usage: TaskUsage): Settled {
  const { tokens, estimated, implausible } = chargedImageTokens(task.request, usage)
  const hours = hoursAt(terms, task.createdAtMs)
  const applied = hours === undefined ? undefined : { hours }
  const tier = tierLabel(terms, tokens, applied)
  return {
    taskId: task.id,
    tokenId: task.tokenId,
    chargeNanos: chargeTokens(terms, tokens, applied),
    ...modelOf(task),
    unit: 'token',
    ...(tier !== undefined && { tier }),
    quantity: tokens.inputTokens + tokens.outputTokens,
    priceId: task.priceId,
    tokens,
    ...(estimated && { estimated: true }),
    ...(implausible !== undefined && { implausible }),
  }
}

/** Of a response without usage: no more than its input is known. */
function responseFor(
  terms: PriceTerms,
  task: ResponseTask,
  { tokens, applied }: TaskUsage,
): Settled {
  const estimated = tokens === undefined
  const usage = tokens ?? { ...noTokens, inputTokens: task.request.inputTokens }
  const tier = tierLabel(terms, usage, applied)
  const { id: taskId, tokenId, priceId } = task
  return {
    taskId,
    tokenId,
    chargeNanos: chargeTokens(terms, usage, applied),
    ...modelOf(task),
    unit: 'token',
    ...(tier !== undefined && { tier }),
    quantity: usage.inputTokens + usage.outputTokens,
    priceId,
    ...(applied?.serviceTier !== undefined && { serviceTier: applied.serviceTier }),
    ...(estimated && { estimated }),
  }
}

/** By any terms. Undefined: they have no unit or tier for it. */
function pricedBy(terms: PriceTerms, task: Task, usage: TaskUsage): Settled | undefined {
  if (task.kind === 'response') {
    return terms.unit === 'token' ? responseFor(terms, task, usage) : undefined
  }
  if (task.kind === 'video') return videoFor(terms, task, usage)
  return terms.unit === 'token' ? imageTokensFor(terms, task, usage) : imagesFor(terms, task, usage)
}

/** What the upstream takes for it. Undefined: not known. */
export function costFor(costs: CostBook, task: Task, usage: TaskUsage, pricedAs: string) {
  const model = { name: servingModel(task), pricedAs }
  const cost = costs.find(model, task.channel, task.createdAtMs)
  const used = cost && pricedBy(cost.terms, task, usage)
  return used && timesFactor(used.chargeNanos, cost.factorNanos)
}

function imagesFor(
  terms: PriceTerms,
  task: ImageTask,
  { images = 0 }: TaskUsage,
): Settled | undefined {
  const quantity = Math.min(images, task.request.count)
  const tier = tierOf(terms, task.request)
  const chargeNanos = chargeImages(terms, quantity, tier, hoursAt(terms, task.createdAtMs))
  if (chargeNanos === undefined) return undefined
  const { id: taskId, tokenId, priceId } = task
  const size = tier !== undefined && { tier }
  return {
    taskId,
    tokenId,
    chargeNanos,
    ...modelOf(task),
    unit: 'image',
    ...size,
    quantity,
    priceId,
  }
}

/** A size follows from the request and the price, which never change. */
const tierOf = (terms: PriceTerms, request: ImageRequest) =>
  terms.unit === 'image' ? imageTier(terms, request) : undefined

function videoFor(terms: PriceTerms, task: VideoTask, usage: TaskUsage): Settled | undefined {
  const byTokens = terms.unit === 'video_token'
  const bound = boundOf(task)
  const used = byTokens ? tokensUsed(task, bound, usage) : secondsUsed(task, bound, usage)
  const { quantity, estimated, implausible } = used
  const hours = hoursAt(terms, task.createdAtMs)
  const chargeNanos = byTokens
    ? chargeVideoTokens(terms, quantity, hours)
    : chargeSeconds(terms, bound.resolution, quantity, hours)
  if (chargeNanos === undefined) return undefined
  return {
    taskId: task.id,
    tokenId: task.tokenId,
    chargeNanos,
    ...modelOf(task),
    unit: byTokens ? 'video_token' : 'video_second',
    ...(!byTokens && { tier: bound.resolution }),
    quantity,
    priceId: task.priceId,
    ...(estimated && { estimated: true }),
    ...(implausible !== undefined && { implausible }),
  }
}

const modelOf = ({ model, servedModel, channel }: Task) => ({
  model,
  channel,
  ...(servedModel !== undefined && { servedModel }),
})

interface Used {
  quantity: number
  estimated: boolean
  implausible?: number
}

function secondsUsed({ request }: VideoTask, bound: VideoBound, usage: TaskUsage): Used {
  const { outputSeconds } = usage
  const { maxSeconds: max } = bound
  const used = Math.min(outputSeconds ?? request.seconds, max)
  // To the thousandth, as charged: so quantities add up to their charges.
  const quantity = Math.round(used * 1000) / 1000
  const isFar = outputSeconds !== undefined && outputSeconds > max + slackSeconds
  const implausible = isFar && { implausible: outputSeconds }
  return { quantity, estimated: outputSeconds === undefined, ...implausible }
}

function tokensUsed(task: VideoTask, bound: VideoBound, usage: TaskUsage): Used {
  const { videoTokens, outputSeconds } = usage
  const { request } = task
  const seconds = outputSeconds ?? request.seconds
  const tokens = videoTokens ?? tokensOf(servingModel(task), { ...request, seconds })
  const max = withMargin(bound.maxTokens)
  const estimated = videoTokens === undefined
  if (tokens <= max) return { quantity: tokens, estimated }
  return { quantity: max, estimated, implausible: tokens }
}

const withMargin = (tokens: number): number => tokens + Math.ceil(tokens / marginDivisor)

type Bounded = Pick<VideoTask, 'model' | 'servedModel' | 'request'>

const boundOf = (task: Bounded): VideoBound =>
  task.request.bound ?? plainBound(servingModel(task), task.request)

/** For a request that goes upstream unchanged and whose fields describe it completely. */
export function plainBound(model: string, request: VideoRequest): VideoBound {
  const { seconds, resolution } = request
  const max = framesIn(Math.max(seconds, maxSeconds))
  return {
    seconds,
    tokens: tokensOf(model, request),
    resolution,
    maxSeconds: seconds,
    maxTokens: estimateTokens(model, '1080p', 'adaptive', max),
  }
}

function tokensOf(model: string, { resolution, seconds, ratio, media }: VideoRequest): number {
  const shape = ratio ?? (media.length > 0 ? 'adaptive' : '16:9')
  return estimateTokens(model, resolution, shape, framesIn(seconds))
}
