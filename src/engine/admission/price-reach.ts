// What a call asks for that its price depends on: which rates, service tiers and places it may meet, and by which
// terms it is charged once the answer says how it was served.
import type { Reach } from '../../billing/max-charge.ts'
import type { Refusal } from '../../contract/errors.ts'
import {
  type Applied,
  batchTier,
  noTiers,
  type PriceTerms,
  type RateName,
  rateFields,
  type TokenTerms,
} from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import type { AskedTerm, TextCall } from '../../contract/requests.ts'
import type { ServedAs } from '../../contract/usage.ts'

/** Of the first that the price does not have; nothing is sent. */
export const askRefusal = (asks: readonly AskedTerm[], terms: PriceTerms): Refusal | undefined =>
  asks.find((ask) => isUnpriced(ask, terms))?.refusal

function isUnpriced({ kind, name, refusal }: AskedTerm, terms: PriceTerms): boolean {
  if (terms.unit !== 'token') return true
  // Only lines of batches are of this tier, which ask for it without a refusal.
  if (kind === 'tier' && name === batchTier && refusal !== undefined) return true
  if (kind === 'tier') return tierNamed(terms, name) === undefined
  if (kind === 'rate') return !hasRate(terms, name as RateName)
  return kind === 'geo' && !hasPlace(terms, name)
}

const hasRate = ({ tiers }: TokenTerms, name: RateName): boolean =>
  tiers.some((tier) => tier[rateFields[name]] !== undefined)

const hasPlace = ({ geo }: TokenTerms, name: string): boolean =>
  geo !== undefined && Object.hasOwn(geo, name)

/** `fast` and `priority` are two words for one tier. */
const isFast = (name: string): boolean => name === 'fast' || name === 'priority'

/** The tier of the price that a name means; undefined: it has none. */
function tierNamed({ serviceTiers }: TokenTerms, name: string): string | undefined {
  if (serviceTiers === undefined) return undefined
  if (Object.hasOwn(serviceTiers, name)) return name
  return name === 'fast' && Object.hasOwn(serviceTiers, 'priority') ? 'priority' : undefined
}

/** What is known at admission: the hours. Undefined for most prices. */
export function appliedAt(terms: PriceTerms, nowMs: number): Applied | undefined {
  const hours = hoursAt(terms, nowMs)
  return hours === undefined ? undefined : { hours }
}

/** What the hold has to be enough for; undefined: the usual rates. */
export function reachOf(
  {
    hourCache,
    inputBound,
    asks,
    speaks,
  }: Pick<TextCall, 'hourCache' | 'inputBound' | 'asks' | 'speaks'>,
  terms: PriceTerms,
  applied: Applied | undefined,
): Reach | undefined {
  const { isOpen, images } = inputBound
  const isPlain = !hourCache && !isOpen && images === 0 && asks === undefined && !speaks
  if (isPlain && applied === undefined) return undefined
  const rates: RateName[] = []
  if (hourCache) rates.push('cache_write_1h')
  if (isOpen) rates.push('input_audio')
  if (speaks) rates.push('output_audio')
  for (const { kind, name } of asks ?? []) if (kind === 'rate') rates.push(name as RateName)
  if (isOpen || images > 0) rates.push('input_image')
  const tiers = terms.unit === 'token' ? tiersOf(asks ?? [], terms) : undefined
  return { rates, serviceTiers: tiers, hours: applied?.hours }
}

function tiersOf(asks: readonly AskedTerm[], terms: TokenTerms): Reach['serviceTiers'] {
  if (asks.some(({ kind }) => kind === 'auto')) return 'all'
  return asks.flatMap(({ kind, name }) => (kind === 'tier' ? (tierNamed(terms, name) ?? []) : []))
}

/** Why a charge is by the plain rates although the answer names something else. */
export interface Unknown {
  kind: 'service tier' | 'place'
  name: string
}

interface Terms {
  applied: Applied | undefined
  /** What the answer names and the price does not. */
  unknown?: Unknown
}

/**
 * By what the answer says of itself, else by what was asked for. `applied`: as of the admission. `sent`: those
 * of the asked terms that went upstream.
 */
export function termsOfAnswer(
  terms: PriceTerms,
  applied: Applied | undefined,
  sent: readonly AskedTerm[] | undefined,
  served: ServedAs | undefined,
): Terms {
  if (terms.unit !== 'token' || (sent === undefined && served === undefined)) return { applied }
  const tier = tierOfAnswer(terms, sent, served?.tiers)
  const geo = placeOfAnswer(terms, sent, served?.geo)
  const unknown = tier.unknown ?? geo.unknown
  const all: Applied = { ...applied }
  if (tier.name !== undefined) all.serviceTier = tier.name
  if (geo.name !== undefined) all.geo = geo.name
  const isPlain = tier.name === undefined && geo.name === undefined
  return {
    applied: isPlain ? applied : all,
    ...(unknown !== undefined && { unknown }),
  }
}

/** The terms of a call that the gateway makes at a tier of its own: upstreams are not asked for it. */
export function atOwnTier(
  terms: PriceTerms,
  applied: Applied | undefined,
  asks: readonly AskedTerm[] | undefined,
  name: string,
): Applied | undefined {
  const isAsked = asks?.some((ask) => ask.kind === 'tier' && ask.name === name)
  if (!isAsked || terms.unit !== 'token' || tierNamed(terms, name) === undefined) return applied
  return { ...applied, serviceTier: name }
}

interface Found {
  name?: string | undefined
  unknown?: Unknown
}

function tierOfAnswer(
  terms: TokenTerms,
  sent: readonly AskedTerm[] | undefined,
  said: ServedAs['tiers'],
): Found {
  const asked = sent?.find(({ kind }) => kind === 'tier')?.name
  if (said === undefined) return { name: asked && tierNamed(terms, asked) }
  const named = said.find((name) => !noTiers.includes(name))
  if (named === undefined) return {}
  if (asked !== undefined && isFast(asked) && isFast(named)) {
    return { name: tierNamed(terms, asked) }
  }
  const name = tierNamed(terms, named)
  return name === undefined ? { unknown: { kind: 'service tier', name: named } } : { name }
}

/** A place without a factor costs what the price says. */
function placeOfAnswer(
  terms: TokenTerms,
  sent: readonly AskedTerm[] | undefined,
  said: string | undefined,
): Found {
  const name = said ?? sent?.find(({ kind }) => kind === 'geo')?.name
  return name !== undefined && hasPlace(terms, name) ? { name } : {}
}
