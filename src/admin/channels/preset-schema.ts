// Presets as the admin API tells of them.
import { z } from 'zod'
import { presetGroups, trainingModes } from '../../contract/config-schema/preset.ts'
import { column, pageFields, pageOf } from '../schema.ts'

const addresses = () => z.record(z.string(), z.string()).meta({ names: 'protocols' })

export const preset = z
  .object({
    name: column(z.string()),
    title: column(z.string()),
    group: column(z.enum(presetGroups)),
    protocols: column(addresses()).describe('Base address of each protocol.'),
    endpoints: addresses().describe('The URL of the calls of each protocol.'),
    needs_base_url: z.boolean().describe('Its host is your own, and `base_url` must name it.'),
    needs_key: z.boolean(),
    cloud: z
      .enum(['aws', 'google', 'azure'])
      .nullable()
      .describe('The kind of account that stands in place of keys (`auth`).'),
    key_form: z.string().nullable().describe('What the key looks like, where it is not one word.'),
    models: z
      .record(z.string(), z.string())
      .describe("The channel's models unless others are given; none: they are discovered."),
    retention: column(z.string().nullable()).describe('How long the provider keeps requests.'),
    training: column(z.enum(trainingModes).nullable()).describe(
      'Whether the provider trains models with requests.',
    ),
    docs: z.string(),
    notes: z.array(z.string()),
  })
  .meta({ id: 'Preset' })
export const presetList = pageOf(preset, 'PresetList')

export const presetQuery = z.object(pageFields)

export type Preset = z.infer<typeof preset>
