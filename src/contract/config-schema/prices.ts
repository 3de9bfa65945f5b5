// What gateway.yaml, the admin API and price lists may declare as a price, in wire form.
import { z } from 'zod'
import { imageSizes } from '../price.ts'
import { amount, count, modelName, name, strict, text, timestamp } from './fields.ts'

export const tokenRates = strict({
  input: amount('Per million input tokens.'),
  output: amount('Per million output tokens.'),
  cache_read: amount('Per million input tokens read from a cache. Default: input.').optional(),
  cache_write: amount('Per million input tokens written to a cache. Default: input.').optional(),
  cache_write_1h: amount(
    'Per million input tokens written to a cache for an hour. Default: 1.6 x cache_write, else 2 x input.',
  ).optional(),
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

const priceOf = {
  model: modelName('Model it prices.'),
  account: name(
    'Account that this price applies to. Left out, all accounts without one.',
  ).optional(),
  effective_from: timestamp('When it takes effect. Left out, at once.').optional(),
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

const tokenPrice = strict({
  ...priceOf,
  unit: z.literal('token'),
  per_million: tokenRates.optional(),
  tiers: tokenTiers
    .meta({ description: "Prices by size of the request's whole input, ascending." })
    .optional(),
  per_call: perCall.optional(),
})
  .refine((price) => (price.per_million === undefined) !== (price.tiers === undefined), {
    message: 'must have either per_million or tiers',
  })
  .meta({
    title: 'Token price',
    description: 'Has either per_million or tiers.',
    oneOf: [{ required: ['per_million'] }, { required: ['tiers'] }],
  })

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

const imagePrice = strict({
  ...priceOf,
  unit: z.literal('image'),
  per_image: perImage,
  default_size: z
    .enum(imageSizes)
    .meta({ description: 'Size of a request that names none. Default 1k.' })
    .optional(),
})
  .refine((price) => price.default_size === undefined || typeof price.per_image !== 'string', {
    path: ['default_size'],
    message: 'is for prices by size only',
  })
  .meta({ title: 'Image price' })

const secondPrices = z
  .record(
    text(/^[a-z0-9]{1,16}$/, 'a resolution tier such as 720p', 'Resolution tier.'),
    amount('Per second of output.'),
  )
  .refine((value) => Object.keys(value).length > 0, 'must name at least one tier')
  .meta({ description: 'Price per second of output, by resolution tier.' })

const { account: own, ...ofEverybody } = priceOf

export const priceDeclaration = z
  .discriminatedUnion('unit', [
    tokenPrice,
    imagePrice,
    strict({ ...priceOf, unit: z.literal('video_second'), per_second: secondPrices }).meta({
      title: 'Video second price',
    }),
    strict({
      ...priceOf,
      unit: z.literal('video_token'),
      per_million: amount('Per million video tokens.'),
    }).meta({ title: 'Video token price' }),
    strict({
      ...ofEverybody,
      account: own.unwrap(),
      unit: z
        .literal('default')
        .meta({ description: "Ends the account's price: the general price applies again." }),
    }).meta({ title: 'Default price' }),
  ])
  .meta({ title: 'Price', description: 'One version of what a model costs.' })

export const maxListed = 10_000

export type PriceDeclaration = z.infer<typeof priceDeclaration>

export const startOf = (price: { effective_from?: string | undefined }): number | undefined =>
  price.effective_from === undefined ? undefined : Date.parse(price.effective_from)
