// Converts a price between its two forms: as declared, in decimals, and as applied, in nano-units.
import type { z } from 'zod'
import { formatNanos, parseNanos } from '../lib/text/decimal.ts'
import type { PriceDeclaration, tokenRates } from './config-schema/prices.ts'
import { type ImageTerms, imageSizes, type PriceTerms, type TokenRates } from './price.ts'

const nanosOf = (value: string): bigint => parseNanos(value)!

function ratesFrom(declared: z.infer<typeof tokenRates>): TokenRates {
  const { input, output, cache_read, cache_write, cache_write_1h } = declared
  return {
    inputNanos: nanosOf(input),
    outputNanos: nanosOf(output),
    ...(cache_read === undefined ? {} : { cacheReadNanos: nanosOf(cache_read) }),
    ...(cache_write === undefined ? {} : { cacheWriteNanos: nanosOf(cache_write) }),
    ...(cache_write_1h === undefined ? {} : { cacheWrite1hNanos: nanosOf(cache_write_1h) }),
  }
}

export function termsFrom(declared: PriceDeclaration): PriceTerms {
  switch (declared.unit) {
    case 'token': {
      const tiers = declared.tiers ?? [{ per_million: declared.per_million! }]
      return {
        unit: 'token',
        tiers: tiers.map(({ per_million, up_to }) =>
          up_to === undefined ? ratesFrom(per_million) : { upTo: up_to, ...ratesFrom(per_million) },
        ),
        ...(declared.per_call !== undefined && { perCallNanos: eachNanos(declared.per_call) }),
      }
    }
    case 'image':
      return imageTermsFrom(declared)
    case 'video_second':
      return { unit: 'video_second', perSecondNanos: eachNanos(declared.per_second) }
    case 'video_token':
      return { unit: 'video_token', perMillionNanos: nanosOf(declared.per_million) }
    case 'default':
      return { unit: 'default' }
  }
}

function imageTermsFrom({
  per_image,
  default_size = '1k',
}: Extract<PriceDeclaration, { unit: 'image' }>): ImageTerms {
  if (typeof per_image === 'string') return { unit: 'image', perImageNanos: nanosOf(per_image) }
  return { unit: 'image', perSizeNanos: eachNanos(per_image), defaultSize: default_size }
}

function eachNanos(amounts: Readonly<Record<string, string | undefined>>): Record<string, bigint> {
  const given = Object.entries(amounts).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([tier, value]) => [tier, nanosOf(value!)]))
}

const ratesOf = (tier: TokenRates) => ({
  input: formatNanos(tier.inputNanos),
  output: formatNanos(tier.outputNanos),
  ...(tier.cacheReadNanos !== undefined && { cache_read: formatNanos(tier.cacheReadNanos) }),
  ...(tier.cacheWriteNanos !== undefined && { cache_write: formatNanos(tier.cacheWriteNanos) }),
  ...(tier.cacheWrite1hNanos !== undefined && {
    cache_write_1h: formatNanos(tier.cacheWrite1hNanos),
  }),
})

const eachAmount = (nanos: Readonly<Record<string, bigint>>): Record<string, string> =>
  Object.fromEntries(Object.entries(nanos).map(([tier, value]) => [tier, formatNanos(value)]))

type Fields<T> = T extends PriceDeclaration
  ? Omit<T, 'model' | 'account' | 'effective_from'>
  : never
export type TermsDeclaration = Fields<PriceDeclaration>

/** In the form of a price declaration, so that a shown price can be declared again. */
export function declaredTerms(terms: PriceTerms): TermsDeclaration {
  switch (terms.unit) {
    case 'token': {
      const [only] = terms.tiers
      if (terms.tiers.length === 1 && only?.upTo === undefined) {
        return { unit: 'token', per_million: ratesOf(only!), ...perCallOf(terms) }
      }
      const tiers = terms.tiers.map((tier) => ({
        ...(tier.upTo !== undefined && { up_to: tier.upTo }),
        per_million: ratesOf(tier),
      }))
      return { unit: 'token', tiers, ...perCallOf(terms) }
    }
    case 'image':
      return declaredImage(terms)
    case 'video_second':
      return { unit: 'video_second', per_second: eachAmount(terms.perSecondNanos) }
    case 'video_token':
      return { unit: 'video_token', per_million: formatNanos(terms.perMillionNanos) }
    case 'default':
      return { unit: 'default' }
  }
}

const perCallOf = ({ perCallNanos }: Extract<PriceTerms, { unit: 'token' }>) =>
  perCallNanos !== undefined && { per_call: eachAmount(perCallNanos) }

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
