// What gateway.yaml and the admin API may declare of a channel, in wire form, and what a preset adds to it.

import { z } from 'zod'
import type { Protocol } from '../catalog.ts'
import { addressProblem } from './addresses.ts'
import { cloudAuth, cloudProblem, vertexPlace } from './channel/auth.ts'
import { billingAccess } from './channel/billing.ts'
import { dataTerms } from './channel/data.ts'
import { requestRules, rulesProblem } from './channel/rules.ts'
import {
  baseUrl,
  count,
  duration,
  modelPattern,
  name,
  nearestName,
  region,
  strict,
  text,
} from './fields.ts'
import { presets, protocolPaths, protocols } from './names.ts'
import { type Preset, trainingModes } from './preset.ts'
import { costFactor } from './prices.ts'
import { promptCacheFields } from './prompt-cache.ts'
import { capabilitiesDeclaration, realmName, translationMode } from './translation.ts'

const protocolAddresses = strict(
  Object.fromEntries(
    protocols.map((protocol) => [protocol, addressOf(protocol).optional()]),
  ) as Record<Protocol, z.ZodOptional<ReturnType<typeof baseUrl>>>,
)

function addressOf(protocol: Protocol): ReturnType<typeof baseUrl> {
  return baseUrl(`+ ${protocolPaths[protocol]}`).superRefine((address, context) => {
    const message = URL.canParse(address) ? addressProblem(protocol, address) : undefined
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
}

const timeouts = strict({
  connect: duration('Until the connection is established. Default 10s.').optional(),
  first_byte: duration('Until the answer begins. Default 120s.').optional(),
  idle: duration('Maximum silence within an answer. Default 60s.').optional(),
  total: duration('Whole call; of a stream, the time without output. Default 600s.').optional(),
})

const messagesSettings = strict({
  headers: z
    .enum(['msgapi', 'anthropic', 'both'])
    .meta({ description: 'Names of the version and beta headers sent upstream. Default both.' })
    .optional(),
  auth: z
    .enum(['x-api-key', 'bearer', 'both'])
    .meta({ description: 'Header that carries the key upstream. Default both.' })
    .optional(),
  version: text(
    /^[\x21-\x7e]{1,64}$/,
    'a version such as 2023-06-01',
    "Version to send instead of the caller's.",
  ).optional(),
})

const presetNames = [...presets.keys()] as [string, ...string[]]

const presetName = z
  .enum(presetNames, {
    error: ({ input }) =>
      `is not a known preset; did you mean "${nearestName(String(input), presetNames)}"?`,
  })
  .meta({ description: 'Provider whose addresses and settings apply where none are given.' })

/** What a provider says of the data that it is sent; shown in lists, and nothing else follows from it. */
export const dataPolicyFields = {
  retention: text(
    /^[\x20-\x7e]{1,80}$/,
    '1 to 80 printable characters',
    'How long the provider keeps requests, in its own words.',
  ).optional(),
  training: z
    .enum(trainingModes)
    .meta({
      description:
        'Whether the provider trains models with requests: no, unless the account objects (opt_out), unless it pays (unpaid), or yes.',
    })
    .optional(),
}

export const nativeBatches = z.enum(['native']).meta({
  description:
    'Lines of batches go to the batch API of its upstream (chat, responses, embeddings and messages). Left out, the gateway makes a call for each line.',
})

// Without rules across fields, so that partial() can check a change of single fields.
export const channelFields = strict({
  name: name("Name of the channel. Default: the preset's.").optional(),
  preset: presetName.optional(),
  base_url: baseUrl(
    "Scheme, host and port in place of the preset's, such as http://10.0.0.5:8000.",
  ).optional(),
  region: region("Region of the upstream account; must be the gateway's, the default.").optional(),
  keys: z
    .array(
      text(
        /^[\x21-\x7e]{1,4096}$/,
        'a key of printable characters without spaces',
        'A key, or "access|secret" where the upstream signs.',
      ),
    )
    .min(1)
    .meta({ description: 'Upstream keys, used in turn.' })
    .optional(),
  protocols: protocolAddresses
    .refine((value) => Object.keys(value).length > 0, 'must name at least one protocol')
    .meta({ description: 'Base address for each protocol of this upstream.' })
    .optional(),
  models: z
    .record(
      modelPattern('Gateway name, or a prefix that ends in *.'),
      text(
        /^(?:\*|[^\s*?#\x00-\x1f]{1,256})$/,
        'an upstream model name, or "*" to keep the name',
        'Its name at the upstream, or "*" when both names are equal.',
      ),
    )
    .refine((value) => Object.keys(value).length > 0, 'must name at least one model')
    .meta({ description: 'Models it serves, each with its name upstream.' })
    .optional(),
  priority: z
    .int()
    .meta({ description: 'Channels with a larger number get the work first. Default 0.' })
    .optional(),
  weight: z
    .number()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'Share among channels of equal priority. Default 1.' })
    .optional(),
  timeouts: timeouts.meta({ description: 'How long to wait for the upstream.' }).optional(),
  max_concurrency: count('Maximum concurrent calls. Default 200.').optional(),
  messages: messagesSettings
    .meta({ description: 'The messages protocol on this channel.' })
    .optional(),
  translation: translationMode.optional(),
  capabilities: capabilitiesDeclaration
    .meta({ description: 'What its upstream can do, where that is not as usual for its style.' })
    .optional(),
  realm: realmName.optional(),
  ...promptCacheFields,
  ...dataPolicyFields,
  auth: cloudAuth.optional(),
  vertex: vertexPlace.optional(),
  request: requestRules.optional(),
  data: dataTerms.optional(),
  cost_factor: costFactor.optional(),
  billing: billingAccess.optional(),
  batches: nativeBatches.optional(),
  trace: z
    .boolean()
    .meta({ description: 'Whether traceparent and tracestate are sent upstream. Default true.' })
    .optional(),
})

type ChannelFields = z.infer<typeof channelFields>

/** What a channel needs in any case, from its declaration or from its preset. */
export function checkChannel(channel: ChannelFields, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  const preset = presets.get(channel.preset ?? '')
  const wrong = rulesProblem(channel.request?.body, channel.protocols ?? preset?.protocols)
  if (wrong !== undefined)
    context.addIssue({ code: 'custom', path: ['request', 'body'], message: wrong })
  const misfit = cloudProblem({
    protocols: channel.protocols ?? preset?.protocols,
    base_url: channel.base_url,
    ...{ keys: channel.keys, auth: channel.auth, vertex: channel.vertex },
  })
  if (misfit !== undefined) refuse(...misfit)
  const hasKeys = channel.keys !== undefined || channel.auth !== undefined
  if (preset === undefined) {
    for (const field of ['name', 'protocols', 'models'] as const) {
      if (channel[field] === undefined) refuse(field, 'is missing')
    }
    if (!hasKeys) refuse('keys', 'is missing')
    if (channel.base_url !== undefined) {
      refuse('base_url', 'belongs to a preset; without one, write an address for each protocol')
    }
    return
  }
  checkPresetAuth(channel, preset, refuse)
  const problem = baseUrlProblem(preset, channel)
  if (problem !== undefined) refuse('base_url', problem)
}

function checkPresetAuth(
  { keys, auth, vertex }: ChannelFields,
  preset: Preset,
  refuse: (field: string, message: string) => void,
): void {
  const { name: of, cloud } = preset
  if (cloud === undefined) {
    if (keys === undefined && auth === undefined && !preset.keyless) refuse('keys', 'is missing')
    return
  }
  const hasKey = cloud === 'aws' && keys !== undefined
  if (auth?.[cloud] === undefined && !hasKey)
    refuse('auth', `is missing: preset ${of} needs auth.${cloud}`)
  if (cloud === 'google' && vertex === undefined)
    refuse('vertex', `is missing: preset ${of} needs it`)
}

function baseUrlProblem(preset: Preset, channel: ChannelFields) {
  const { base_url, protocols: own } = channel
  if (base_url === undefined) {
    const [form] = Object.values(preset.protocols).map(
      (address) => /^\w+:\/\/[^/]+/.exec(address)?.[0],
    )
    const isNeeded =
      preset.needsBaseUrl === true && own === undefined && placeOf(preset, channel) === undefined
    return isNeeded ? `is missing: preset ${preset.name} needs it, in the form ${form}` : undefined
  }
  if (own !== undefined) return 'and protocols cannot both be given'
  const url = URL.parse(base_url)
  // The field itself says so.
  if (url === null) return undefined
  const { origin, pathname } = url
  const path = pathname.replace(/\/+$/, '')
  const known = Object.values(preset.protocols).map((address) => new URL(address).pathname)
  if (path === '' || known.includes(path)) return undefined
  return `must end at the port, because preset ${preset.name} adds the paths: write ${origin}`
}

export const channelDeclaration = strict(channelFields.shape)
  .superRefine(checkChannel)
  .meta({ title: 'Channel', description: 'An upstream account: keys, addresses, models.' })

type Needed = 'name' | 'keys' | 'protocols' | 'models'
export type ChannelDeclaration = Omit<ChannelFields, Needed | 'base_url'> & {
  [K in Needed]: NonNullable<ChannelFields[K]>
}

/** Sent where a server that takes no key expects a header. */
const noKey = 'none'

/** A checked declaration with what its preset says; what is declared wins. */
export function resolveChannel({ base_url, ...declared }: ChannelFields): ChannelDeclaration {
  const preset = presets.get(declared.preset ?? '')
  const given = Object.fromEntries(
    Object.entries(declared).filter(([, value]) => value !== undefined),
  )
  const own = preset === undefined ? {} : fieldsOf(preset, base_url ?? placeOf(preset, declared))
  // A cloud account stands in place of keys.
  return { keys: [], ...own, ...given } as ChannelDeclaration
}

/** The host of a cloud's region or location. */
function placeOf(
  { addressIn }: Preset,
  { auth, vertex }: Omit<ChannelFields, 'base_url'>,
): string | undefined {
  const place = auth?.aws?.region ?? vertex?.location
  return place === undefined ? undefined : addressIn?.(place)
}

function fieldsOf(preset: Preset, base_url: string | undefined): Partial<ChannelDeclaration> {
  const { name: own, keyless, models, messages, capabilities, retention, training } = preset
  return {
    name: own,
    keys: keyless === true ? [noKey] : [],
    protocols: Object.fromEntries(
      Object.entries(preset.protocols).map(([protocol, address]) => [
        protocol,
        base_url === undefined ? address : new URL(base_url).origin + pathOf(address),
      ]),
    ),
    models: { ...models },
    ...(messages !== undefined && { messages }),
    ...(capabilities !== undefined && { capabilities }),
    ...(retention !== undefined && { retention }),
    ...(training !== undefined && { training }),
  }
}

const pathOf = (address: string): string => new URL(address).pathname.replace(/\/+$/, '')
