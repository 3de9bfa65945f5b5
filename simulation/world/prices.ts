// Prices of a world and what things cost: calculated a second time, in whole numbers and from the rules alone,
// as an independent check of the gateway's arithmetic.
import type { Price, PriceTerms } from '../../src/contract/price.ts'
import type { Random } from './random.ts'
import { drawFactorNanos, models, partModels } from './settings.ts'

const perMillion = 1_000_000n

export function newPrice(
  model: string,
  id: string,
  effectiveFromMs: number,
  random: Random,
): Price {
  return { id, model, terms: termsFor(model, random), effectiveFromMs, source: 'api' }
}

function termsFor(model: string, random: Random): PriceTerms {
  const nanos = (min: number, max: number) => BigInt(random.whole(min, max))
  if (model === models.video) {
    const low = nanos(100_000_000, 900_000_001)
    return { unit: 'video_second', perSecondNanos: { '720p': low, '1080p': low * 2n + 1n } }
  }
  if (model === models.tokenVideo) {
    return { unit: 'video_token', perMillionNanos: nanos(4_000_000_001, 16_000_000_007) }
  }
  if (isText(model)) {
    const [inputNanos, outputNanos] = [nanos(1, 90_000_000_000), nanos(1, 2_000_000_000_000)]
    return { unit: 'token', tiers: [{ inputNanos, outputNanos }] }
  }
  return { unit: 'image', perImageNanos: nanos(25_000_000, 300_000_003) }
}

const isText = (model: string): boolean =>
  model === models.text || Object.values<string>(partModels).includes(model)

/** What each channel takes, at first. The channel `draw` takes a part of the price; of `img` it is not known. */
export const newCosts = (random: Random): Price[] =>
  costedAt.map(([channel, model]) => newCost(channel, model, `cost_${channel}_${model}`, 1, random))

const costedAt: readonly (readonly [channel: string, model: string])[] = [
  ...[models.video, models.image].map((model) => ['vf', model] as const),
  ['ark', models.tokenVideo],
  ...['talk-a', 'talk-b'].flatMap((channel) =>
    [models.text, partModels.line, partModels.ownResponse].map(
      (model) => [channel, model] as const,
    ),
  ),
  ['think', partModels.response],
]

function newCost(
  channel: string,
  model: string,
  id: string,
  fromMs: number,
  random: Random,
): Price {
  return { ...newPrice(model, id, fromMs, random), channel }
}

/** Another version of one of them. */
export function changedCost(id: string, fromMs: number, random: Random): Price {
  const [channel, model] = random.pick(costedAt)
  return newCost(channel, model, id, fromMs, random)
}

/** A gateway may not know the newest version yet. Empty: not known. */
export function costsOf(
  { prices, costs }: { prices: Iterable<Price>; costs: readonly Price[] },
  channel: string,
  model: string,
  atMs: number,
  amount: (price: Price) => bigint | undefined,
): bigint[] {
  const all = channel === 'draw' ? [...prices] : costs.filter((cost) => cost.channel === channel)
  const inForce = all.filter(
    (price) => price.model === model && (channel === 'draw' || price.effectiveFromMs <= atMs),
  )
  const factorNanos = channel === 'draw' ? drawFactorNanos : 1_000_000_000n
  return inForce.flatMap((price) => {
    const nanos = amount(price)
    return nanos === undefined ? [] : [rounded(nanos * factorNanos, 1_000_000_000n)]
  })
}

const rounded = (amount: bigint, divisor: bigint): bigint => (amount + divisor / 2n) / divisor

/** Undefined: these terms are for something else. */
export function videoCosts(
  { terms }: Price,
  resolution: string,
  seconds: number,
): bigint | undefined {
  if (terms.unit !== 'video_second') return undefined
  const perSecond = terms.perSecondNanos[resolution]
  return perSecond && rounded(BigInt(Math.round(seconds * 1000)) * perSecond, 1000n)
}

export function tokensCost({ terms }: Price, tokens: number): bigint | undefined {
  if (terms.unit !== 'video_token') return undefined
  return rounded(BigInt(tokens) * terms.perMillionNanos, perMillion)
}

export function imagesCost({ terms }: Price, count: number): bigint | undefined {
  return 'perImageNanos' in terms ? BigInt(count) * terms.perImageNanos : undefined
}

export function textCosts({ terms }: Price, input: number, output: number): bigint | undefined {
  if (terms.unit !== 'token') return undefined
  const { inputNanos, outputNanos } = terms.tiers[0]!
  return rounded(BigInt(input) * inputNanos + BigInt(output) * outputNanos, perMillion)
}
