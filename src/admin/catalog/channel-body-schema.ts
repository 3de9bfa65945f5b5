// What the admin API takes to make and change a channel: the declaration of the configuration file.
import { z } from 'zod'
import { channelDeclaration } from '../../contract/config-schema/index.ts'

const isDisabled = { disabled: z.boolean().optional() }
export const channelCreation = channelDeclaration.extend(isDisabled).meta({ id: 'NewChannel' })
export const channelChange = channelDeclaration
  .partial()
  .extend(isDisabled)
  .meta({ id: 'ChannelChange' })
export const channelDraft = channelDeclaration.meta({ id: 'ChannelDeclaration' })
