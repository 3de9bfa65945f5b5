// A preset: what is publicly documented of one upstream, so that a channel needs its key only. Data, no
// code; what a channel declares itself wins over it.
import type { z } from 'zod'
import type { DataPolicy, MessagesSettings, Protocol } from '../catalog.ts'
import type { capabilitiesDeclaration } from './translation.ts'

export const presetGroups = ['makers', 'hosts', 'clouds', 'local', 'media'] as const
export type PresetGroup = (typeof presetGroups)[number]

/** Whether requests are used to train models: never, unless the account objects, or unless it pays. */
export const trainingModes = ['no', 'opt_out', 'unpaid', 'yes'] as const

export interface Preset extends DataPolicy {
  name: string
  title: string
  group: PresetGroup
  /** Base address of each protocol. */
  protocols: Readonly<Record<Protocol, string>>
  /** Set where the host is the customer's own: the addresses show the form, and `base_url` is needed. */
  needsBaseUrl?: true
  /** Set where the server takes no key unless it was started with one. */
  keyless?: true
  /** Its accounts are those of a cloud, which `auth` names in place of keys. */
  cloud?: 'aws' | 'google' | 'azure'
  /** Its host in a region or location of that cloud. */
  addressIn?: (place: string) => string
  /** What the key looks like, where it is not one word. */
  keyForm?: string
  /** The channel's models unless others are given; none: they are discovered. */
  models: Readonly<Record<string, string>>
  messages?: Partial<MessagesSettings>
  capabilities?: z.infer<typeof capabilitiesDeclaration>
  /** Where its API is documented. */
  docs: string
  /** What an operator should know. */
  notes?: readonly string[]
}
