// Public price files as the admin API takes them, and the list that is made of one.
import { z } from 'zod'
import { maxPlaces } from '../../contract/price-sources/convert.ts'

const factor = (description: string) =>
  z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal such as 1.2')
    .meta({ description })
    .optional()

export const sourceRequest = z
  .strictObject({
    source: z
      .enum(['models.dev', 'litellm'])
      .describe("models.dev: its api.json. litellm: LiteLLM's list of models and prices."),
    text: z.string().describe('The file, JSON in US dollars.'),
    margin: factor('Multiplies prices. Default 1.'),
    rate: factor("The gateway's currency for one US dollar. Default 1."),
    round: z
      .int()
      .min(0)
      .max(maxPlaces)
      .meta({ description: 'Decimals of amounts, rounded half up. Default 9.' })
      .optional(),
    only: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'Only models that fit, as `gpt-*` or `openai/*`.' })
      .optional(),
  })
  .meta({ id: 'PublicPriceFile' })

export const sourceList = z
  .object({
    models: z.int().min(0),
    prices: z.int().min(0),
    remarks: z.array(z.string()).describe('What was left out or simplified.'),
    text: z.string().describe('The list, in the form that an import takes as `yaml`.'),
  })
  .meta({ id: 'PublicPriceFileList' })

export type SourceList = z.infer<typeof sourceList>
