// The catalog of models as the admin API tells of it.
import { z } from 'zod'
import { modelKinds, virtualPrices } from '../../contract/catalog.ts'
import { trainingModes } from '../../contract/config-schema/preset.ts'
import {
  column,
  interfaceName,
  pageFields,
  pageOf,
  protocolName,
  source,
  staffOnly,
} from '../schema.ts'

const tokens = () => z.int().min(1).nullable()

export const model = z
  .object({
    name: column(z.string()),
    kind: column(z.enum(modelKinds)),
    interfaces: column(z.array(interfaceName())),
    protocols: staffOnly(column(z.array(protocolName()))),
    display_name: z.string(),
    context_window: tokens(),
    max_output_tokens: tokens(),
    max_tokens_per_image: tokens(),
    translate: z
      .boolean()
      .describe('Whether it is also served in styles that its channels do not speak.'),
    routing: z
      .enum(['load', 'latency'])
      .describe('What decides between channels of equal priority.'),
    retention: column(z.string().nullable()).describe('How long providers keep requests.'),
    training: column(z.enum(trainingModes).nullable()).describe(
      'Whether providers train models with requests.',
    ),
    virtual: staffOnly(
      z
        .array(z.union([z.string(), z.object({ model: z.string(), weight: z.number() })]))
        .nullable(),
      'The models that serve a virtual model.',
    ),
    price: staffOnly(
      z.enum(virtualPrices).nullable(),
      'Whether a virtual model costs its own price or that of the model that served.',
    ),
    alias: staffOnly(z.string().nullable(), 'The model that it is another name of.'),
    callable: column(z.boolean()).describe('A channel serves it and a price is in force.'),
    unavailable_reason: z.string().nullable(),
    price_id: z.string().nullable(),
    own_prices: staffOnly(z.array(z.string()), 'Accounts with a price of their own.'),
    source: column(source),
  })
  .meta({ id: 'CatalogModel' })
export const modelList = pageOf(model, 'CatalogModelList')

export const modelQuery = z.object(pageFields)

export type Model = z.infer<typeof model>
