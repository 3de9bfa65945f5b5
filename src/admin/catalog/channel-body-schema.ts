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
export const channelChange = channelFields
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
  })
  .meta({ id: 'ChannelChange' })
export const channelDraft = channelDeclaration.meta({ id: 'ChannelDeclaration' })
