// A service tier of a public price file, which lists rates, as a price here has it: a factor of all rates where
// they agree on one, which also holds above each size of the input; else rates of its own.
import { type RateName, rateNames } from '../price.ts'
import { compare, type Decimal, isSame, isZero, ratio } from './decimal.ts'
import type { SomeRates, SourceServiceTier, SourceTiers } from './source.ts'

interface Read {
  tier: SourceServiceTier
  /** Rates of it that are charged otherwise. */
  lost: RateName[]
  /** Its rates above the first size of the input are those below. */
  isFlat: boolean
}

/** Undefined: it has not both rates that every price has. */
export function serviceTierOf(tiers: SourceTiers, own: SomeRates): Read | undefined {
  const { input, output } = own
  const base = tiers[0]!.rates
  if (input === undefined || output === undefined) return undefined
  const given = rateNames.filter((name) => own[name] !== undefined)
  const factor = factorOf(base, own, given)
  if (factor !== undefined) return { tier: { factor }, lost: [], isFlat: false }
  const main = tiers.length > 1 ? factorOf(base, own, ['input', 'output']) : undefined
  if (main !== undefined) {
    const lost = given.filter((name) => factorOf(base, own, [name], main) === undefined)
    return { tier: { factor: main }, lost, isFlat: false }
  }
  const rates = { ...base, ...own, input, output }
  return { tier: { rates }, lost: [], isFlat: tiers.length > 1 }
}

const max: Decimal = { digits: 100n, scale: 0 }

/** That all of these are times those of the base; `known`: if it is this one. */
export function factorOf(
  base: SomeRates,
  own: SomeRates,
  names: readonly RateName[],
  known?: Decimal,
): Decimal | undefined {
  let factor = known
  for (const name of names) {
    const [was, is] = [base[name], own[name]]
    if (is === undefined || was === undefined) return undefined
    if (isZero(was) && isZero(is)) continue
    const found = ratio(is, was)
    if (found === undefined || isZero(found) || compare(found, max) > 0) return undefined
    if (factor !== undefined && !isSame(factor, found)) return undefined
    factor = found
  }
  return factor
}
