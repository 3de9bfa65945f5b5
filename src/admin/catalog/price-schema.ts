// Prices as the admin API tells of them: in the words of a declaration.
import { z } from 'zod'
import {
  type CallUnit,
  callUnits,
  imageSizes,
  type RateName,
  weekdays,
} from '../../contract/price.ts'
import {
  accountField,
  channelField,
  column,
  count,
  modelField,
  money,
  pageFields,
  pageOf,
  query,
  source,
  staffOnly,
  time,
} from '../schema.ts'

const rates = z.object({
  input: money().describe('Per million input tokens.'),
  output: money().describe('Per million output tokens.'),
  cache_read: money().optional(),
  cache_write: money().optional(),
  cache_write_1h: money().optional(),
  input_audio: money().optional(),
  input_image: money().optional(),
  output_audio: money().optional(),
  output_image: money().optional(),
} satisfies Record<RateName, unknown>)

const factor = () => z.string().describe('A decimal above 0 and at most 100.')

const hours = z.object({
  days: z.array(z.enum(weekdays)).optional(),
  from: z.string(),
  to: z.string(),
  zone: z.string().optional(),
  factor: factor(),
  except: z.array(z.string()).optional(),
})

const sizes = Object.fromEntries(imageSizes.map((size) => [size, money().optional()])) as Record<
  (typeof imageSizes)[number],
  z.ZodOptional<z.ZodString>
>

const units = [
  ...(['token', 'image', 'video_second', 'video_token'] as const),
  ...(Object.keys(callUnits) as CallUnit[]),
  ...(['free', 'default'] as const),
] as const

/** Which of them are there depends on the unit. */
const termFields = {
  unit: column(z.enum(units)),
  per_million: column(
    z.union([rates, money().describe('Per million video tokens or characters.')]).optional(),
    'terms',
  ),
  tiers: z.array(z.object({ up_to: z.int().min(1).optional(), per_million: rates })).optional(),
  per_call: z.record(z.string(), money()).optional().describe('Per call of an upstream tool.'),
  service_tiers: z
    .record(z.string(), z.object({ factor: factor().optional(), per_million: rates.optional() }))
    .optional()
    .describe('Service tiers that callers may ask for and answers may name.'),
  geo: z
    .record(z.string(), z.object({ factor: factor() }))
    .optional()
    .describe('By the place where the answer says that it was made.'),
  hours: z
    .array(hours)
    .optional()
    .describe('Hours of the week with another price; the first that fits applies.'),
  per_image: z.union([money(), z.object(sizes)]).optional(),
  default_size: z.enum(imageSizes).optional(),
  per_second: z.record(z.string(), money()).optional(),
  per_search: money().optional(),
  per_minute: money().optional().describe('Per minute of audio.'),
}

export const price = z
  .object({
    id: column(z.string()),
    model: column(z.string()),
    account: column(
      z.string().nullable().describe('The account that pays it; null: all that have no own price.'),
    ),
    ...termFields,
    effective_from: column(time(), 'from'),
    current: z.boolean().describe('Whether it is in force.'),
    state: column(z.enum(['scheduled', 'in_force', 'past'])),
    source: column(source),
    created_by: staffOnly(z.string().nullable(), 'Who made it; null: the file, or not known.'),
  })
  .meta({ id: 'Price' })
export const priceList = pageOf(price, 'PriceList')

export const cost = z
  .object({
    id: column(z.string()),
    channel: column(z.string()),
    model: column(z.string()),
    ...termFields,
    currency: column(z.string().describe('Of its amounts.')),
    effective_from: column(time(), 'from'),
    current: z.boolean().describe('Whether it is in force.'),
    state: column(z.enum(['scheduled', 'in_force', 'past'])),
    source: column(source),
    created_by: z.string().nullable().describe('Who made it; null: the file, or not known.'),
  })
  .meta({ id: 'Cost' })
export const costList = pageOf(cost, 'CostList')
export const costFactors = z
  .object({
    currency: z.string().describe("The ledger's."),
    exchange: z
      .record(z.string(), z.string())
      .describe("Units of the ledger's currency for one of another, as the file declares them."),
    channels: z.array(
      z.object({
        channel: z.string(),
        cost_factor: z.string().nullable().describe('Part of the general price; null: none.'),
      }),
    ),
  })
  .meta({ id: 'CostFactors' })
export const costImportRequest = z
  .strictObject({
    yaml: z.string().describe('`costs:` and a list as in gateway.yaml, or the list alone.'),
    dry_run: z.boolean().optional().describe('Only show what would change.'),
  })
  .meta({ id: 'CostImportRequest' })
export const costImport = z
  .object({
    dry_run: z.boolean(),
    added: count(),
    unchanged: count().describe('In force already.'),
    items: z.array(cost.extend({ outcome: z.enum(['added', 'unchanged']) })),
  })
  .meta({ id: 'CostImport' })
export const costQuery = z.object({ channel: channelField, model: modelField, ...pageFields })

/** What an account pays for a model now. */
export const paidPrice = z.object({
  model: z.string(),
  ...termFields,
  effective_from: time(),
  own: z.boolean().describe("Whether it is the account's own price."),
  next: z
    .object({ ...termFields, effective_from: time() })
    .nullable()
    .describe('The version that takes over, and when.'),
})
export const paidPriceList = pageOf(paidPrice, 'PaidPriceList')

export const importedPrice = z.object({
  line: column(z.int().min(1)),
  outcome: column(z.enum(['added', 'unchanged', 'superseded'])),
  id: z.string().nullable(),
  model: column(z.string()),
  account: column(z.string().nullable()),
  ...termFields,
  effective_from: column(time(), 'from'),
})

export const priceImport = z
  .object({
    dry_run: z.boolean(),
    added: count(),
    unchanged: count(),
    superseded: count(),
    models_added: count().describe('Models of the list that the catalog did not have.'),
    items: z.array(importedPrice),
  })
  .meta({ id: 'PriceImport' })

const compared = {
  charges: column(count()),
  charged: column(money()),
  would_charge: column(money().nullable()),
  difference: column(money().nullable()),
  exact: z.boolean(),
  at_least: money().optional(),
  at_most: money().optional(),
  not_comparable: z.string().optional().describe('Why the two cannot be compared.'),
}

export const previewRow = z.object({
  account: column(z.string()),
  model: column(z.string()),
  unit: column(z.string()),
  quantity: column(z.number()),
  ...compared,
})

export const pricePreview = z
  .object({
    from: time(),
    to: time(),
    currency: z.string(),
    exact: z.boolean(),
    total: z.object(compared),
    items: z.array(previewRow),
    omitted_count: count(),
    losing: z
      .array(
        z.object({
          model: z.string(),
          channel: z.string(),
          charges: count(),
          per_call: money().describe('What is lost by each call.'),
          total: money(),
        }),
      )
      .describe('Channels that take more for the usage than the draft charges.'),
  })
  .meta({ id: 'PricePreview' })

const formats = ['yaml', 'csv'] as const

export const priceQuery = z.object({ model: modelField, account: accountField, ...pageFields })
export const exportQuery = z.object({ format: query.choice(formats, 'Default `yaml`.') })
export const importQuery = z.object({
  format: query.choice(formats, 'Of the body, where its type does not say.'),
  dry_run: query.flag('Only tell what would be added.'),
})
export const importBody = z
  .strictObject({ format: z.enum(formats), text: z.string(), dry_run: z.boolean().optional() })
  .meta({ id: 'PriceImportRequest' })

export type Price = z.infer<typeof price>
export type PaidPrice = z.infer<typeof paidPrice>
export type Rates = z.infer<typeof rates>
export type PriceImport = z.infer<typeof priceImport>
export type PricePreview = z.infer<typeof pricePreview>
