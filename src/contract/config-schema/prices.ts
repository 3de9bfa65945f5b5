// What gateway.yaml, the admin API and price lists may declare as a price, in wire form.
import { z } from 'zod'
import { parseNanos } from '../../lib/text/decimal.ts'
import { isZone } from '../budgets/period.ts'
import { imageSizes, noTiers, weekdays } from '../price.ts'
import { amount, count, modelName, name, strict, text, timestamp, unique } from './fields.ts'

export const tokenRates = strict({
  input: amount('Per million input tokens.'),
  output: amount('Per million output tokens.'),
  cache_read: amount('Per million input tokens read from a cache. Default: input.').optional(),
  cache_write: amount('Per million input tokens written to a cache. Default: input.').optional(),
  cache_write_1h: amount(
    'Per million input tokens written to a cache for an hour. Default: 1.6 x cache_write, else 2 x input.',
  ).optional(),
  input_audio: amount('Per million input tokens of audio. Default: input.').optional(),
  input_image: amount('Per million input tokens of images. Default: input.').optional(),
  output_audio: amount('Per million output tokens of audio. Default: output.').optional(),
  output_image: amount('Per million output tokens of images. Default: output.').optional(),
}).meta({ description: 'Prices per million tokens.' })

export const maxTiers = 32

const tokenTiers = z
  .array(
    strict({
      up_to: count(
        'Maximum input of this tier; the last tier also covers larger inputs.',
      ).optional(),
      per_million: tokenRates,
    }),
  )
  .min(1)
  .max(maxTiers)
  .superRefine((tiers, context) => {
    for (const [index, tier] of tiers.entries()) {
      if (tier.up_to === undefined && index < tiers.length - 1) {
        const message = 'must be given in every tier but the last'
        context.addIssue({ code: 'custom', path: [index, 'up_to'], message })
      }
      const below = tiers[index - 1]?.up_to
      if (tier.up_to !== undefined && below !== undefined && tier.up_to <= below) {
        const message = `must be above ${below}, the tier before it`
        context.addIssue({ code: 'custom', path: [index, 'up_to'], message })
      }
    }
  })

const maxFactor = 100_000_000_000n

const factor = (description: string) =>
  z
    .string({
      error: (issue) =>
        typeof issue.input === 'number'
          ? `must be a quoted decimal: write "${issue.input}" instead of ${issue.input}`
          : undefined,
    })
    .refine(
      (value) => {
        const nanos = parseNanos(value) ?? 0n
        return nanos > 0n && nanos <= maxFactor
      },
      { message: 'must be a decimal above 0 and at most 100, such as "0.5"' },
    )
    .meta({ description, pattern: '^\\d{1,3}(\\.\\d{1,9})?$' })

/** Of the ledger's currency for one unit of another. */
export const exchangeRate = amount('Units for one.').refine((value) => parseNanos(value) !== 0n, {
  message: 'must be above 0',
})

/** Zero: what a channel serves costs nothing. */
export const costFactor = amount(
  'Part of the general price that its upstream takes for models that have no entry in `costs`, such as "0.7". Left out, not known.',
).refine((value) => (parseNanos(value) ?? 0n) <= maxFactor, { message: 'must be at most 100' })

const clockTime = (description: string) =>
  text(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time from 00:00 to 23:59', description)

const isDate = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value)

const maxHours = 16
const maxExcept = 64

const hours = z
  .array(
    strict({
      days: z
        .array(z.enum(weekdays))
        .min(1)
        .refine(unique, 'must name each day once')
        .meta({ description: 'Days of the week. Default: all.' })
        .optional(),
      from: clockTime('Local time at which it begins.'),
      to: clockTime(
        'Local time at which it has ended; at or before `from`, it runs past midnight.',
      ),
      zone: z
        .string()
        .refine(isZone, 'must be the IANA name of a time zone, such as Asia/Shanghai')
        .meta({ description: 'Time zone of the times and dates. Default UTC.' })
        .optional(),
      factor: factor('What everything that the price says is multiplied by.'),
      except: z
        .array(z.string().refine(isDate, 'must be a date such as 2026-10-01'))
        .max(maxExcept)
        .meta({ description: 'Local dates on which it does not begin.' })
        .optional(),
    }),
  )
  .max(maxHours)
  .meta({ description: 'Hours of the week with another price; the first that fits applies.' })

const placeName = (description: string) =>
  text(/^[a-z][a-z0-9_-]{0,31}$/, 'a name such as priority', description)

const serviceTiers = z
  .record(
    placeName('Name of a service tier, such as priority, flex or fast.'),
    strict({
      factor: factor('What every rate of the price is multiplied by; not per_call.').optional(),
      per_million: tokenRates.optional(),
    })
      .refine((tier) => (tier.factor === undefined) !== (tier.per_million === undefined), {
        message: 'must have either factor or per_million',
      })
      .meta({ oneOf: [{ required: ['factor'] }, { required: ['per_million'] }] }),
  )
  .refine((value) => Object.keys(value).length > 0, 'must name at least one service tier')
  .refine((value) => noTiers.every((name) => !Object.hasOwn(value, name)), {
    message: `must not name ${noTiers.join(', ')}: these are the plain rates`,
  })
  .meta({ description: 'Service tiers that callers may ask for and answers may name.' })

const geo = z
  .record(
    placeName('The place, such as us.'),
    strict({ factor: factor('What every rate of the price is multiplied by; not per_call.') }),
  )
  .refine((value) => Object.keys(value).length > 0, 'must name at least one place')
  .meta({ description: 'By the place where the answer says that it was made.' })

const version = {
  model: modelName('Model it prices.'),
  effective_from: timestamp('When it takes effect. Left out, at once.').optional(),
}

const priceOf = {
  ...version,
  account: name(
    'Account that this price applies to. Left out, all accounts without one.',
  ).optional(),
}

export const currencyCode = (description: string) =>
  text(/^[A-Z]{3}$/, 'three capital letters', description)

const costOf = {
  ...version,
  channel: name('Channel whose upstream takes it.'),
  currency: currencyCode(
    "Currency of its amounts, with a rate in `exchange`. Left out, the ledger's.",
  ).optional(),
}

const perCall = z
  .record(
    text(/^[a-z][a-z0-9_]{0,63}$/, 'the name of a tool such as web_search', 'Name of a tool.'),
    amount('Per call.'),
  )
  .refine((value) => Object.keys(value).length > 0, 'must name at least one tool')
  .meta({
    description:
      'Price per call of tools that the upstream runs, such as web_search. Tools without one are refused.',
  })

const tokenTerms = {
  hours: hours.optional(),
  unit: z.literal('token'),
  per_million: tokenRates.optional(),
  tiers: tokenTiers
    .meta({ description: "Prices by size of the request's whole input, ascending." })
    .optional(),
  per_call: perCall.optional(),
  service_tiers: serviceTiers.optional(),
  geo: geo.optional(),
}
const hasOneOfRates = (price: { per_million?: unknown; tiers?: unknown }): boolean =>
  (price.per_million === undefined) !== (price.tiers === undefined)
const oneOfRates = { message: 'must have either per_million or tiers' }
const tokenMeta = {
  description: 'Has either per_million or tiers.',
  oneOf: [{ required: ['per_million'] }, { required: ['tiers'] }],
}

const perImage = z
  .union([
    amount('Per delivered image, whatever its size.'),
    strict(
      Object.fromEntries(
        imageSizes.map((size) => [size, amount('Per delivered image.').optional()]),
      ) as Record<(typeof imageSizes)[number], z.ZodOptional<ReturnType<typeof amount>>>,
    )
      .refine((value) => Object.keys(value).length > 0, 'must name at least one size')
      .meta({ description: 'By size; one that is not named costs as the next larger.' }),
  ])
  .meta({ description: 'Per delivered image: one amount, or one for each size.' })

const imageTerms = {
  hours: hours.optional(),
  unit: z.literal('image'),
  per_image: perImage,
  default_size: z
    .enum(imageSizes)
    .meta({ description: 'Size of a request that names none. Default 1k.' })
    .optional(),
}
const isSized = (price: { default_size?: unknown; per_image: unknown }): boolean =>
  price.default_size === undefined || typeof price.per_image !== 'string'
const onlySized = { path: ['default_size'], message: 'is for prices by size only' }

const secondPrices = z
  .record(
    text(/^[a-z0-9]{1,16}$/, 'a resolution tier such as 720p', 'Resolution tier.'),
    amount('Per second of output.'),
  )
  .refine((value) => Object.keys(value).length > 0, 'must name at least one tier')
  .meta({ description: 'Price per second of output, by resolution tier.' })

const secondTerms = {
  hours: hours.optional(),
  unit: z.literal('video_second'),
  per_second: secondPrices,
}

const videoTokenTerms = {
  hours: hours.optional(),
  unit: z.literal('video_token'),
  per_million: amount('Per million video tokens.'),
}

/** Of calls that are counted otherwise than by tokens. */
const searchTerms = {
  hours: hours.optional(),
  unit: z.literal('search'),
  per_search: amount('Per search of a rerank model, as its upstream counts them.'),
}
const characterTerms = {
  hours: hours.optional(),
  unit: z.literal('character'),
  per_million: amount('Per million characters of text that is spoken.'),
}
const audioSecondTerms = {
  hours: hours.optional(),
  unit: z.literal('audio_second'),
  per_minute: amount('Per minute of audio that is transcribed; counted in seconds.'),
}
const freeTerms = {
  hours: hours.optional(),
  unit: z.literal('free').meta({ description: 'Calls of the model cost nothing.' }),
}

export const priceDeclaration = z
  .discriminatedUnion('unit', [
    strict({ ...priceOf, ...tokenTerms })
      .refine(hasOneOfRates, oneOfRates)
      .meta({ title: 'Token price', ...tokenMeta }),
    strict({ ...priceOf, ...imageTerms })
      .refine(isSized, onlySized)
      .meta({ title: 'Image price' }),
    strict({ ...priceOf, ...secondTerms }).meta({ title: 'Video second price' }),
    strict({ ...priceOf, ...videoTokenTerms }).meta({ title: 'Video token price' }),
    strict({ ...priceOf, ...searchTerms }).meta({ title: 'Search price' }),
    strict({ ...priceOf, ...characterTerms }).meta({ title: 'Character price' }),
    strict({ ...priceOf, ...audioSecondTerms }).meta({ title: 'Audio second price' }),
    strict({ ...priceOf, ...freeTerms }).meta({ title: 'Free' }),
    strict({
      ...priceOf,
      account: priceOf.account.unwrap(),
      unit: z
        .literal('default')
        .meta({ description: "Ends the account's price: the general price applies again." }),
    }).meta({ title: 'Default price' }),
  ])
  .meta({ title: 'Price', description: 'One version of what a model costs.' })

export const costDeclaration = z
  .discriminatedUnion('unit', [
    strict({ ...costOf, ...tokenTerms })
      .refine(hasOneOfRates, oneOfRates)
      .meta({ title: 'Token cost', ...tokenMeta }),
    strict({ ...costOf, ...imageTerms })
      .refine(isSized, onlySized)
      .meta({ title: 'Image cost' }),
    strict({ ...costOf, ...secondTerms }).meta({ title: 'Video second cost' }),
    strict({ ...costOf, ...videoTokenTerms }).meta({ title: 'Video token cost' }),
    strict({ ...costOf, ...searchTerms }).meta({ title: 'Search cost' }),
    strict({ ...costOf, ...characterTerms }).meta({ title: 'Character cost' }),
    strict({ ...costOf, ...audioSecondTerms }).meta({ title: 'Audio second cost' }),
    strict({ ...costOf, ...freeTerms }).meta({ title: 'No cost' }),
  ])
  .meta({ title: 'Cost', description: 'One version of what an upstream takes for a model.' })

export const maxListed = 10_000

export type PriceDeclaration = z.infer<typeof priceDeclaration>
export type CostDeclaration = z.infer<typeof costDeclaration>

export const startOf = (price: { effective_from?: string | undefined }): number | undefined =>
  price.effective_from === undefined ? undefined : Date.parse(price.effective_from)
