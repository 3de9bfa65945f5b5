// Converts a checked declaration into a value of the catalog, with defaults.
import type {
  BillingAccess,
  Channel,
  DataPolicy,
  MessagesSettings,
  Model,
  Protocol,
  Source,
  Timeouts,
  VirtualTerms,
} from '../catalog.ts'
import { cloudFrom } from './channel/auth.ts'
import { dataFrom } from './channel/data.ts'
import { rulesFrom } from './channel/rules.ts'
import type { ChannelDeclaration } from './channels.ts'
import { parseDurationMs } from './fields.ts'
import { type ModelDeclaration, protocolsOf } from './models.ts'
import { protocols } from './names.ts'
import { promptCacheFrom } from './prompt-cache.ts'
import { translationFrom } from './translation.ts'

const timeoutDefaults = { connect: '10s', first_byte: '120s', idle: '60s', total: '600s' }

function timeoutsFrom(declared: ChannelDeclaration['timeouts']): Timeouts {
  const ms = (field: keyof typeof timeoutDefaults) =>
    parseDurationMs(declared?.[field] ?? timeoutDefaults[field])!
  return {
    connectMs: ms('connect'),
    firstByteMs: ms('first_byte'),
    idleMs: ms('idle'),
    totalMs: ms('total'),
  }
}

export function messagesFrom(declared: ChannelDeclaration['messages']): MessagesSettings {
  const { headers = 'both', auth = 'both', version } = declared ?? {}
  return { headers, auth, ...(version !== undefined && { version }) }
}

export function channelFrom(
  declared: ChannelDeclaration,
  known: { id: string; source: Source /** The gateway's own. */; region: string },
): Channel {
  const addresses: Record<Protocol, string> = {}
  for (const protocol of protocols) {
    const address = declared.protocols[protocol]
    if (address !== undefined) addresses[protocol] = address.replace(/\/+$/, '')
  }
  return {
    id: known.id,
    name: declared.name,
    region: declared.region ?? known.region,
    keys: declared.keys,
    protocols: addresses,
    models: declared.models,
    priority: declared.priority ?? 0,
    weight: declared.weight ?? 1,
    timeouts: timeoutsFrom(declared.timeouts),
    maxConcurrency: declared.max_concurrency ?? 200,
    messages: messagesFrom(declared.messages),
    ...translationFrom(declared),
    ...promptCacheFrom(declared),
    ...(declared.trace === false && { trace: false }),
    ...(declared.auth !== undefined && cloudFrom(declared.auth, declared.vertex)),
    ...given('request', rulesFrom(declared.request)),
    ...given('data', dataFrom(declared.data)),
    ...given('costFactor', declared.cost_factor),
    ...given('billing', declared.billing as BillingAccess | undefined),
    ...given('batches', declared.batches),
    ...(declared.preset !== undefined && { preset: declared.preset }),
    ...dataPolicyFrom(declared),
    disabled: false,
    source: known.source,
  }
}

const given = <Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [K in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [K in Name]?: Value })

export const dataPolicyFrom = ({
  retention,
  training,
}: Pick<ChannelDeclaration, 'retention' | 'training'>): DataPolicy => ({
  ...(retention !== undefined && { retention }),
  ...(training !== undefined && { training }),
})

export function modelFrom(declared: ModelDeclaration, source: Source): Model {
  if ('virtual' in declared || 'alias' in declared) return nameFrom(declared, source)
  const {
    context_window: contextWindow,
    max_output_tokens: maxOutputTokens,
    max_tokens_per_image: maxTokensPerImage,
  } = declared
  return {
    name: declared.name,
    kind: declared.kind,
    interfaces: declared.interfaces,
    protocols: protocolsOf(declared),
    displayName: declared.display_name ?? declared.name,
    // Names start with their family, the closest that callers get to an owner.
    ownedBy: declared.name.split('-', 1)[0]!,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(maxTokensPerImage !== undefined && { maxTokensPerImage }),
    ...(declared.translate === false && { translate: false }),
    ...(declared.routing === 'latency' && { routing: declared.routing }),
    ...dataPolicyFrom(declared),
    source,
  }
}

/** A name over other models. The catalog takes the rest from these. */
function nameFrom(
  declared: Extract<ModelDeclaration, { virtual: unknown } | { alias: string }>,
  source: Source,
): Model {
  const { name, display_name: displayName = name } = declared
  const ownedBy = name.split(/[-*]/, 1)[0]!
  const rest = { name, displayName, ownedBy, interfaces: [], protocols: [], source }
  if ('alias' in declared) return { ...rest, kind: 'text', alias: declared.alias }
  const { kind, virtual, price = 'served' } = declared
  const members = virtual.map((each) => {
    if (typeof each === 'string') return { model: each }
    const { model, weight } = each
    return weight === undefined ? { model } : { model, weight }
  })
  return { ...rest, kind, virtual: { members, price } }
}

/** The members of a virtual model as they are declared. */
export const declaredMembers = ({ members }: VirtualTerms) =>
  members.map(({ model, weight }) => (weight === undefined ? model : { model, weight }))
