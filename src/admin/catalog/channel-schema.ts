// Channels as the admin API tells of them: keys go in and never come out again.
import { z } from 'zod'
import { modelKinds } from '../../contract/catalog.ts'
import { billingKinds } from '../../contract/config-schema/channel/billing.ts'
import { dataTerms } from '../../contract/config-schema/channel/data.ts'
import { trainingModes } from '../../contract/config-schema/preset.ts'
import { affinityModes } from '../../contract/config-schema/prompt-cache.ts'
import {
  capabilitiesDeclaration,
  realmName,
  translationModes,
} from '../../contract/config-schema/translation.ts'
import { amount, column, count, pageFields, pageOf, source, time } from '../schema.ts'

const circuit = z.enum(['good', 'probing', 'avoided', 'blocked'])

const shownRules = z.object({
  headers: z
    .object({ set: z.record(z.string(), z.string()), remove: z.array(z.string()) })
    .exactOptional(),
  body: z
    .object({ set: z.record(z.string(), z.unknown()), remove: z.array(z.string()) })
    .exactOptional(),
})

export const channel = z
  .object({
    id: column(z.string()),
    name: column(z.string()),
    region: column(z.string()),
    disabled: column(z.boolean(), 'state'),
    protocols: column(z.record(z.string(), z.string()).meta({ names: 'protocols' })),
    endpoints: z
      .record(z.string(), z.string())
      .meta({ names: 'protocols' })
      .describe('The URL of the calls of each protocol.'),
    models: column(z.record(z.string(), z.string())),
    priority: column(z.int()),
    weight: column(amount()),
    keys: column(count()).describe('How many there are; none ever comes out.'),
    source: column(source),
    timeouts: z.object({
      connect: z.string(),
      first_byte: z.string(),
      idle: z.string(),
      total: z.string(),
    }),
    max_concurrency: z.int().min(1),
    messages: z.object({
      headers: z.string(),
      auth: z.string(),
      version: z.string().exactOptional(),
    }),
    translation: z.enum(translationModes),
    capabilities: capabilitiesDeclaration,
    realm: realmName.exactOptional(),
    affinity: z.enum(affinityModes),
    auto_cache: z.boolean(),
    trace: z.boolean().describe('Whether it is sent trace headers.'),
    auth: z
      .record(z.string(), z.object({ region: z.string().exactOptional() }))
      .nullable()
      .describe('The kind of its cloud account; nothing else of it ever comes out.'),
    vertex: z.object({ location: z.string() }).nullable().describe('Calls are in Vertex form.'),
    request: shownRules.nullable().describe('What is changed in its requests, last of all.'),
    data: dataTerms.nullable().describe('What it promises of data; null: nothing.'),
    cost_factor: z
      .string()
      .nullable()
      .describe(
        'Part of the general price that it takes for models without a cost; null: not known.',
      ),
    billing: z
      .object({ kind: z.enum(billingKinds), url: z.string().nullable() })
      .nullable()
      .describe('Where its statements are pulled from; the key never comes out.'),
    batches: z
      .enum(['native'])
      .nullable()
      .describe('Whether lines of batches go to its batch API.'),
    preset: z.string().nullable().describe('The preset that it was made from.'),
    retention: column(z.string().nullable()).describe('How long the provider keeps requests.'),
    training: column(z.enum(trainingModes).nullable()).describe(
      'Whether the provider trains models with requests.',
    ),
    health: z
      .object({
        state: circuit,
        reason: z
          .enum(['circuit_open', 'keys_rejected'])
          .nullable()
          .describe('Why it is down: its calls fail, or every key is rejected. Null: it is not.'),
        failures_in_row: count(),
        retry_at: time().nullable(),
        busy: count(),
        keys: z.array(circuit),
        denied_models: z.array(z.string()),
      })
      .exactOptional(),
  })
  .meta({ id: 'Channel' })
export const channelList = pageOf(channel, 'ChannelList')

export const channelTest = z
  .object({
    ok: z.boolean(),
    latency_ms: amount(),
    model: z.string().exactOptional(),
    error: z.string().exactOptional(),
  })
  .meta({ id: 'ChannelTest' })

export const channelDiscovery = z
  .object({
    ok: z.boolean(),
    latency_ms: amount(),
    models: z.array(
      z.object({
        upstream_model: z.string(),
        names: z.array(
          z.string().describe('A name this channel serves it under; none: it is new.'),
        ),
        kind: z
          .string()
          .nullable()
          .describe('What the catalog says it makes; null: it is not in it.'),
        priced: z.boolean(),
      }),
    ),
    gone: z.array(z.object({ name: z.string(), upstream_model: z.string() })),
    added: z
      .array(
        z.object({
          name: z.string(),
          upstream_model: z.string(),
          kind: z.enum(modelKinds),
          priced: z.boolean(),
        }),
      )
      .exactOptional()
      .describe('New in the catalog or in the list of the channel.'),
    skipped: z.array(z.object({ upstream_model: z.string(), reason: z.string() })).exactOptional(),
    error: z.string().exactOptional(),
  })
  .meta({ id: 'ChannelDiscovery' })

export const plannedChannel = z.object({
  name: z.string(),
  change: z.enum(['new', 'changed', 'same', 'skipped', 'refused']),
  fields: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
  problem: z.string().nullable(),
})
export const channelImport = z
  .object({ saved: z.boolean(), channels: z.array(plannedChannel) })
  .meta({ id: 'ChannelImport' })

export const channelQuery = z.object(pageFields)

export const discoveryRequest = z
  .strictObject({
    add: z.boolean().optional().describe('Add what the catalog or the channel lacks.'),
    only: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Only models whose name fits; `*` stands for any characters.'),
  })
  .meta({ id: 'ChannelDiscoveryRequest' })
export const testRequest = z
  .strictObject({
    model: z.string().max(128).optional(),
    key: z
      .string()
      .regex(/^[\x21-\x7e]{1,4096}$/, 'must be a key of printable characters without spaces')
      .optional()
      .describe('A key to try instead of those that it has; it is not kept.'),
  })
  .meta({ id: 'ChannelTestRequest' })
export const importRequest = z
  .strictObject({ yaml: z.string(), dry_run: z.boolean().optional() })
  .meta({ id: 'ChannelImportRequest' })

export type Channel = z.infer<typeof channel>
export type ChannelTest = z.infer<typeof channelTest>
export type ChannelDiscovery = z.infer<typeof channelDiscovery>
export type PlannedChannel = z.infer<typeof plannedChannel>
