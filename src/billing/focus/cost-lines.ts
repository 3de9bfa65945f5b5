// A charge in lines, one for each rate that it was made by: how much of what, at which exact price for one, and what
// the general price for the same would be.
import type { Applied, PriceTerms, RateName, TokenTerms } from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { chargedParts, hoursFactor, imageRateNanos, rateFactors, type TermsOf } from '../charge.ts'
import { tierLabel } from '../charge-label.ts'
import { rateFifths, rateLines, ratesFor } from '../rates.ts'

/** Exact prices and costs are whole numbers of these: so many decimals of the currency. */
export const exactPlaces = 46
const thousand = 1_000n
const perNano = 10n ** 37n
const one = 1_000_000_000n

export interface CostLine {
  /** Of another model than the one that was called. */
  model?: string | undefined
  /** The name of a rate, of a unit or of a tool. */
  meter: string
  unit: 'Tokens' | 'Requests' | 'Images' | 'Seconds'
  /** Which rates of the price it is by, where that has several. */
  label: string
  /** Thousandths. */
  quantity: bigint
  /** Exact, for one. */
  price: bigint
  listPrice: bigint
}

/** What was charged, and by which terms. */
export interface Basis {
  terms: PriceTerms
  /** The general price of then; absent: it was charged by that, or there was none. */
  list?: PriceTerms | undefined
  applied?: Applied | undefined
  /** When it was admitted. */
  atMs: number
  usage?: TokenUsage | undefined
  quantity: number
  tier: string
  termsOf: TermsOf
}

/** Empty: its usage is not on record. */
export function costLines(basis: Basis): CostLine[] {
  const { terms } = basis
  if (terms.unit === 'token') return basis.usage === undefined ? [] : tokenLines(terms, basis)
  const made = unitLine(terms, basis)
  return made === undefined ? [] : [made]
}

function tokenLines(terms: TokenTerms, basis: Basis): CostLine[] {
  const { usage, applied, termsOf, list, atMs } = basis
  const lines: CostLine[] = []
  for (const part of chargedParts(terms, usage!, applied, termsOf)) {
    const general = part.model === undefined && list?.unit === 'token' ? list : undefined
    const generally = general && appliedBy(general, part.applied, atMs)
    const input = part.usage.inputTokens
    const label = tierLabel(part.terms, { inputTokens: input }, part.applied) ?? ''
    const shared = { model: part.model, label }
    for (const { what, tokens } of rateLines(
      ratesFor(part.terms, input, part.applied),
      part.usage,
    )) {
      if (tokens === 0) continue
      const price = tokenPrice(part.terms, what, input, part.applied)
      const listPrice = general ? tokenPrice(general, what, input, generally) : price
      const quantity = BigInt(tokens) * 1_000n
      lines.push({ ...shared, meter: what, unit: 'Tokens', quantity, price, listPrice })
    }
    for (const [meter, calls] of Object.entries(part.usage.toolCalls ?? {})) {
      const price = callPrice(part.terms, meter, part.applied)
      const listPrice = general ? callPrice(general, meter, generally) : price
      const quantity = BigInt(calls) * 1_000n
      lines.push({ ...shared, meter, unit: 'Requests', quantity, price, listPrice })
    }
  }
  return lines
}

/** What of the general price applies to a call that another price charged. */
function appliedBy(list: TokenTerms, applied: Applied | undefined, atMs: number): Applied {
  const hours = hoursAt(list, atMs)
  const { serviceTier = '', geo = '' } = applied ?? {}
  return {
    ...(list.serviceTiers?.[serviceTier] !== undefined && { serviceTier }),
    ...(list.geo?.[geo] !== undefined && { geo }),
    ...(hours !== undefined && { hours }),
  }
}

function tokenPrice(terms: TokenTerms, rate: RateName, input: number, applied?: Applied): bigint {
  const { serviceTier, geo } = rateFactors(terms, applied)
  const fifths = rateFifths(ratesFor(terms, input, applied), rate)
  return fifths * 2n * serviceTier * geo * hoursFactor(terms, applied?.hours) * thousand
}

const callPrice = (terms: TokenTerms, tool: string, applied?: Applied): bigint =>
  (terms.perCallNanos?.[tool] ?? 0n) * atHours(terms, applied?.hours)

/** A factor and what is left of the scale of an amount in nano-units. */
const atHours = (terms: PriceTerms, hours: number | undefined): bigint =>
  (hoursFactor(terms, hours) * perNano) / one

const units = { image: 'Images', video_second: 'Seconds', video_token: 'Tokens' } as const

function unitLine(terms: PriceTerms, { list, tier, quantity, atMs }: Basis): CostLine | undefined {
  if (terms.unit === 'token' || terms.unit === 'default') return undefined
  const price = unitPrice(terms, tier, atMs)
  const listPrice = list?.unit === terms.unit ? unitPrice(list, tier, atMs) : undefined
  return {
    meter: terms.unit,
    unit: units[terms.unit],
    label: tier,
    quantity: BigInt(Math.round(quantity * 1_000)),
    price: price ?? 0n,
    listPrice: listPrice ?? price ?? 0n,
  }
}

function unitPrice(terms: PriceTerms, tier: string, atMs: number): bigint | undefined {
  const factor = atHours(terms, hoursAt(terms, atMs))
  if (terms.unit === 'video_token') return (terms.perMillionNanos * factor) / 1_000_000n
  const nanos =
    terms.unit === 'video_second' ? terms.perSecondNanos[tier] : imageRateNanos(terms, tier)
  return nanos === undefined ? undefined : nanos * factor
}

/** Exact. */
export const costOfLine = (quantity: bigint, price: bigint): bigint => quantity * (price / 1_000n)

/** An amount in parts in proportion to these costs; the parts are whole and add up to it. */
export function shared(amountNanos: bigint, costs: readonly bigint[]): bigint[] {
  const total = costs.reduce((sum, cost) => sum + cost, 0n)
  if (total === 0n) return costs.map((_, at) => (at === 0 ? amountNanos : 0n))
  let before = 0n
  let given = 0n
  return costs.map((cost) => {
    before += cost
    const upTo = (amountNanos * before) / total
    const part = upTo - given
    given = upTo
    return part
  })
}
