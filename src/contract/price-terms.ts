// Converts a price between its two forms: as declared, in decimals, and as applied, in nano-units.
import type { z } from 'zod'
import { formatNanos, parseNanos } from '../lib/text/decimal.ts'
import type { CostDeclaration, PriceDeclaration, tokenRates } from './config-schema/prices.ts'
import {
  type ImageTerms,
  imageSizes,
  type PriceHours,
  type PriceTerms,
  rateFields,
  rateNames,
  type ServiceTier,
  type TokenRates,
  type TokenTerms,
} from './price.ts'
import { clockText, minuteOf } from './price-hours.ts'

const nanosOf = (value: string): bigint => parseNanos(value)!

type DeclaredRates = z.infer<typeof tokenRates>

const ratesFrom = (declared: DeclaredRates): TokenRates =>
  Object.fromEntries(
    rateNames.flatMap((name) => {
      const value = declared[name]
      return value === undefined ? [] : [[rateFields[name], nanosOf(value)]]
    }),
  ) as unknown as TokenRates

type Declaration = PriceDeclaration | CostDeclaration

export const termsFrom = (declared: Declaration): PriceTerms =>
  'hours' in declared && declared.hours?.length
    ? { ...unitTermsFrom(declared), hours: declared.hours.map(hoursFrom) }
    : unitTermsFrom(declared)

type DeclaredHours = NonNullable<Extract<Declaration, { unit: 'token' }>['hours']>[number]

const hoursFrom = ({
  days,
  from,
  to,
  zone = 'UTC',
  factor,
  except,
}: DeclaredHours): PriceHours => ({
  ...(days !== undefined && { days }),
  fromMinute: minuteOf(from),
  toMinute: minuteOf(to),
  zone,
  factorNanos: nanosOf(factor),
  ...(except !== undefined && { except }),
})

const hoursOf = ({ days, fromMinute, toMinute, zone, factorNanos, except }: PriceHours) => ({
  ...(days !== undefined && { days: [...days] }),
  from: clockText(fromMinute),
  to: clockText(toMinute),
  ...(zone !== 'UTC' && { zone }),
  factor: factorText(factorNanos),
  ...(except !== undefined && { except: [...except] }),
})

/** 0.50 is 0.5: a factor is no amount. */
export const factorText = (nanos: bigint): string =>
  formatNanos(nanos).replace(/0+$/, '').replace(/\.$/, '')

function unitTermsFrom(declared: Declaration): PriceTerms {
  switch (declared.unit) {
    case 'token': {
      const tiers = declared.tiers ?? [{ per_million: declared.per_million! }]
      return {
        unit: 'token',
        tiers: tiers.map(({ per_million, up_to }) =>
          up_to === undefined ? ratesFrom(per_million) : { upTo: up_to, ...ratesFrom(per_million) },
        ),
        ...(declared.per_call !== undefined && { perCallNanos: eachNanos(declared.per_call) }),
        ...factorsFrom(declared),
      }
    }
    case 'image':
      return imageTermsFrom(declared)
    case 'video_second':
      return { unit: 'video_second', perSecondNanos: eachNanos(declared.per_second) }
    case 'video_token':
      return { unit: 'video_token', perMillionNanos: nanosOf(declared.per_million) }
    case 'search':
      return { unit: 'search', rateNanos: nanosOf(declared.per_search) }
    case 'character':
      return { unit: 'character', rateNanos: nanosOf(declared.per_million) }
    case 'audio_second':
      return { unit: 'audio_second', rateNanos: nanosOf(declared.per_minute) }
    case 'free':
    case 'default':
      return { unit: declared.unit }
  }
}

function factorsFrom({ service_tiers, geo }: Extract<Declaration, { unit: 'token' }>) {
  return {
    ...(service_tiers !== undefined && {
      serviceTiers: mapped(
        service_tiers,
        ({ factor, per_million }): ServiceTier =>
          per_million === undefined
            ? { factorNanos: nanosOf(factor!) }
            : { rates: ratesFrom(per_million) },
      ),
    }),
    ...(geo !== undefined && { geo: mapped(geo, ({ factor }) => nanosOf(factor)) }),
  }
}

const mapped = <From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))

function imageTermsFrom({
  per_image,
  default_size = '1k',
}: Extract<Declaration, { unit: 'image' }>): ImageTerms {
  if (typeof per_image === 'string') return { unit: 'image', perImageNanos: nanosOf(per_image) }
  return { unit: 'image', perSizeNanos: eachNanos(per_image), defaultSize: default_size }
}

function eachNanos(amounts: Readonly<Record<string, string | undefined>>): Record<string, bigint> {
  const given = Object.entries(amounts).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([tier, value]) => [tier, nanosOf(value!)]))
}

const ratesOf = (rates: TokenRates): DeclaredRates =>
  Object.fromEntries(
    rateNames.flatMap((name) => {
      const nanos = rates[rateFields[name]]
      return nanos === undefined ? [] : [[name, formatNanos(nanos)]]
    }),
  ) as DeclaredRates

const eachAmount = (nanos: Readonly<Record<string, bigint>>): Record<string, string> =>
  Object.fromEntries(Object.entries(nanos).map(([tier, value]) => [tier, formatNanos(value)]))

type Fields<T> = T extends PriceDeclaration
  ? Omit<T, 'model' | 'account' | 'effective_from'>
  : never
export type TermsDeclaration = Fields<PriceDeclaration>

/** In the form of a price declaration, so that a shown price can be declared again. */
export const declaredTerms = (terms: PriceTerms): TermsDeclaration =>
  terms.hours === undefined
    ? declaredUnit(terms)
    : ({ ...declaredUnit(terms), hours: terms.hours.map(hoursOf) } as TermsDeclaration)

function declaredUnit(terms: PriceTerms): TermsDeclaration {
  switch (terms.unit) {
    case 'token': {
      const [only] = terms.tiers
      if (terms.tiers.length === 1 && only?.upTo === undefined) {
        return { unit: 'token', per_million: ratesOf(only!), ...besides(terms) }
      }
      const tiers = terms.tiers.map((tier) => ({
        ...(tier.upTo !== undefined && { up_to: tier.upTo }),
        per_million: ratesOf(tier),
      }))
      return { unit: 'token', tiers, ...besides(terms) }
    }
    case 'image':
      return declaredImage(terms)
    case 'video_second':
      return { unit: 'video_second', per_second: eachAmount(terms.perSecondNanos) }
    case 'video_token':
      return { unit: 'video_token', per_million: formatNanos(terms.perMillionNanos) }
    case 'search':
      return { unit: 'search', per_search: formatNanos(terms.rateNanos) }
    case 'character':
      return { unit: 'character', per_million: formatNanos(terms.rateNanos) }
    case 'audio_second':
      return { unit: 'audio_second', per_minute: formatNanos(terms.rateNanos) }
    case 'free':
    case 'default':
      return { unit: terms.unit }
  }
}

const besides = ({ perCallNanos, serviceTiers, geo }: TokenTerms) => ({
  ...(perCallNanos !== undefined && { per_call: eachAmount(perCallNanos) }),
  ...(serviceTiers !== undefined && {
    service_tiers: mapped(serviceTiers, (tier) =>
      'rates' in tier
        ? { per_million: ratesOf(tier.rates) }
        : { factor: factorText(tier.factorNanos) },
    ),
  }),
  ...(geo !== undefined && { geo: mapped(geo, (nanos) => ({ factor: factorText(nanos) })) }),
})

function declaredImage(terms: ImageTerms): Extract<TermsDeclaration, { unit: 'image' }> {
  if (!('perSizeNanos' in terms)) {
    return { unit: 'image', per_image: formatNanos(terms.perImageNanos) }
  }
  const { perSizeNanos, defaultSize } = terms
  const priced = imageSizes.filter((size) => perSizeNanos[size] !== undefined)
  const per_image = Object.fromEntries(
    priced.map((size) => [size, formatNanos(perSizeNanos[size]!)]),
  )
  return { unit: 'image', per_image, ...(defaultSize !== '1k' && { default_size: defaultSize }) }
}
