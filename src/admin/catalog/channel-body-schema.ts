// What the admin API takes to make and change a channel: the declaration of the configuration file.
import { z } from 'zod'
import { vertexPlace } from '../../contract/config-schema/channel/auth.ts'
import { billingAccess } from '../../contract/config-schema/channel/billing.ts'
import { dataTerms } from '../../contract/config-schema/channel/data.ts'
import { requestRules } from '../../contract/config-schema/channel/rules.ts'
import {
  channelDeclaration,
  channelFields,
  checkChannel,
  costFactor,
  nativeBatches,
} from '../../contract/config-schema/index.ts'

const isDisabled = { disabled: z.boolean().optional() }
export const channelCreation = channelFields
  .extend(isDisabled)
  .superRefine(checkChannel)
  .meta({ id: 'NewChannel' })
/** A preset is applied once, when the channel is made. */
export const channelChangeFields = channelFields
  .omit({ preset: true, base_url: true })
  .partial()
  .extend({
    ...isDisabled,
    vertex: vertexPlace.nullable().optional(),
    request: requestRules.nullable().optional(),
    data: dataTerms.nullable().optional(),
    cost_factor: costFactor.nullable().optional(),
    billing: billingAccess.nullable().optional(),
    batches: nativeBatches.nullable().optional(),
    add_keys: channelFields.shape.keys.describe('Keys beside those that it has.'),
    keep_keys: z
      .int()
      .min(1)
      .optional()
      .describe('Drops all keys but so many of the newest, as at the end of a rotation.'),
  })
export const channelChange = channelChangeFields
  .refine(({ keys, add_keys }) => keys === undefined || add_keys === undefined, {
    error: 'goes without keys, which replace all',
    path: ['add_keys'],
  })
  .meta({ id: 'ChannelChange' })
export const channelDraft = channelDeclaration.meta({ id: 'ChannelDeclaration' })
