// Channels as they are stored and shown: built from a declaration, changed, and viewed without keys.
import type { Channel } from '../../contract/catalog.ts'
import {
  cloudProblem,
  cloudView,
  vertexEndpoint,
} from '../../contract/config-schema/channel/auth.ts'
import { billingView } from '../../contract/config-schema/channel/billing.ts'
import { dataView } from '../../contract/config-schema/channel/data.ts'
import { rulesProblem } from '../../contract/config-schema/channel/rules.ts'
import {
  type ChannelDeclaration,
  channelFrom,
  endpointOf,
} from '../../contract/config-schema/index.ts'
import { promptCacheView } from '../../contract/config-schema/prompt-cache.ts'
import { capabilitiesView } from '../../contract/config-schema/translation.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Declares, Offers, Seals } from '../../engine/base-deps.ts'
import {
  type ChannelHealth,
  type HealthDeps,
  healthOf,
} from '../../engine/routing/channel-health.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { lockChannel, type StoredChannel, updateChannel } from '../../store/catalog/channels.ts'
import type { Tx } from '../../store/index.ts'
import { auditChange, notFound, timeOrNull } from '../answers.ts'
import type { Ask, View } from '../route.ts'
import type { channelChange } from './channel-body-schema.ts'
import { keysNeeded } from './channel-origins.ts'
import type { channel as channelSchema } from './channel-schema.ts'

export type ChannelDeps = Declares & Offers & Seals & HealthDeps

type Change = Ask<{ body: typeof channelChange }>['body']

export const find = (engine: ChannelDeps, idOrName: string): Channel | undefined =>
  engine.catalog.channels.find(({ id, name }) => id === idOrName || name === idOrName)

export const notOurs = ({ name, source }: Channel): Refusal =>
  refuse(
    'conflict',
    source === 'file'
      ? `channel '${name}' is declared in the configuration file; change it there`
      : `channel '${name}' belongs to the gateway itself`,
  )

export const fromDeclaration = (
  engine: ChannelDeps,
  body: ChannelDeclaration,
  id: string,
): Channel => channelFrom(body, { id, source: 'api', region: engine.declared.file.region })

/** A channel of another region is never taken in, nor rules that break its prices; names stay unique. */
export function misplaced(engine: ChannelDeps, channel: StoredChannel): Refusal | undefined {
  const { region } = engine.declared.file
  if (channel.region !== region) {
    const message = `region is ${channel.region}, but this gateway's region is ${region}`
    return refuse('invalid_request', message, { param: 'region' })
  }
  const wrong = rulesProblem(channel.request?.body, channel.protocols)
  if (wrong !== undefined) {
    return refuse('invalid_request', `request.body ${wrong}`, { param: 'request.body' })
  }
  const { cloud, protocols } = channel
  const misfit = cloudProblem({
    protocols,
    keys: undefined,
    auth: cloud && { [cloud.kind]: cloud.machine === true ? {} : true },
    vertex: cloud?.location === undefined ? undefined : { project: true },
  })
  if (misfit !== undefined) {
    return refuse('invalid_request', misfit.join(' '), { param: misfit[0] })
  }
  const other = engine.catalog.channels.find(({ name }) => name === channel.name)
  if (other === undefined || other.id === channel.id) return undefined
  return nameTaken(channel.name)
}

export const nameTaken = (name: string): Refusal =>
  refuse('conflict', `there is a channel '${name}' already`, { param: 'name' })

/** Built on the stored row, not on the one in memory: changes at once must not undo each other. */
export async function changeChannel(
  engine: ChannelDeps,
  tx: Tx,
  x: RequestContext,
  id: string,
  body: Change,
): Promise<View<typeof channelSchema> | Refusal> {
  const stored = await lockChannel(tx, id)
  if (stored === undefined) return notFound('channel', id)
  const channel = merged(engine, stored, body, x.atMs)
  const refusal = unacceptable(engine, stored, channel, body)
  if (refusal !== undefined) return refusal
  await updateChannel(tx, channel)
  const after = storedView(channel)
  await auditChange(tx, x, {
    action: 'channel.update',
    subject: id,
    before: storedView(stored),
    // New keys look like the old ones from outside.
    after: {
      ...after,
      ...(hasCredential(body) && { keys_replaced: true }),
      ...(body.add_keys !== undefined && { keys_added: body.add_keys.length }),
    },
  })
  return after
}

/** Why a change is refused: another region, a name in use, or stored keys for another origin. */
export const unacceptable = (
  engine: ChannelDeps,
  before: Pick<Channel, 'protocols' | 'cloud'>,
  after: StoredChannel,
  body: Pick<Change, 'keys' | 'auth' | 'vertex' | 'add_keys'>,
): Refusal | undefined =>
  misplaced(engine, after) ??
  projectMissing(body, after) ??
  (hasCredential(body) ? undefined : keysNeeded(before.protocols, after.protocols)) ??
  (body.add_keys !== undefined && before.cloud !== undefined ? noKeysHere : undefined) ??
  (needsAuth(before, body) ? authNeeded : undefined)

const hasCredential = ({ keys, auth }: Pick<Change, 'keys' | 'auth'>): boolean =>
  keys !== undefined || auth !== undefined

/** The project is kept with the account. */
const needsAuth = (
  { cloud }: Pick<Channel, 'cloud'>,
  { auth, vertex }: Pick<Change, 'auth' | 'vertex'>,
) =>
  auth === undefined &&
  vertex != null &&
  (vertex.project !== undefined || cloud?.location === undefined)

/** A new account at Vertex names its project, or the change does. */
function projectMissing(
  { auth, vertex }: Pick<Change, 'auth' | 'vertex'>,
  { cloud }: StoredChannel,
) {
  if (auth?.google === undefined || cloud?.location === undefined) return undefined
  const misfit = cloudProblem({ protocols: {}, keys: undefined, auth, vertex: { ...vertex } })
  return misfit && refuse('invalid_request', misfit.join(' '), { param: misfit[0] })
}

const noKeysHere = refuse('invalid_request', 'an account at a cloud stands in place of keys', {
  param: 'add_keys',
})

const authNeeded = refuse(
  'invalid_request',
  'auth must be given again where vertex names a project or is new',
  { param: 'auth' },
)

/** Fields that are given replace the old ones; time-outs one by one. Old keys stay sealed. */
export function merged(
  engine: ChannelDeps,
  before: StoredChannel,
  body: Change,
  atMs: number,
): StoredChannel {
  const declared = fromDeclaration(
    engine,
    {
      name: body.name ?? before.name,
      keys: body.keys ?? [],
      protocols: body.protocols ?? { ...before.protocols },
      models: body.models ?? { ...before.models },
      region: body.region ?? before.region,
      priority: body.priority ?? before.priority,
      weight: body.weight ?? before.weight,
      max_concurrency: body.max_concurrency ?? before.maxConcurrency,
      timeouts: { ...timeoutsView(before), ...body.timeouts },
      messages: { ...before.messages, ...body.messages },
      translation: body.translation ?? before.translation ?? 'on',
      capabilities: { ...capabilitiesView(before.capabilities), ...body.capabilities },
      realm: body.realm ?? before.realm,
      affinity: body.affinity ?? before.affinity ?? 'on',
      auto_cache: body.auto_cache ?? before.autoCache ?? false,
      trace: body.trace ?? before.trace ?? true,
      ...mergedRules(before, body),
      preset: before.preset,
      retention: body.retention ?? before.retention,
      training: body.training ?? before.training,
    },
    before.id,
  )
  const after = sealed(engine, declared, atMs)
  return {
    ...after,
    ...credentialAfter(before, body, (key) => engine.seal.encrypt(key, before.id)),
    disabled: body.disabled ?? before.disabled,
    createdAtMs: before.createdAtMs,
  }
}

/** A new one, or the old one, which stays sealed. */
function credentialAfter(before: StoredChannel, body: Change, encrypt: (key: string) => string) {
  const { billing } = before
  const reports = body.billing === undefined && billing !== undefined ? { billing } : {}
  if (hasCredential(body)) return reports
  // The newest stand last.
  const keyCiphertexts = [...before.keyCiphertexts, ...(body.add_keys ?? []).map(encrypt)].slice(
    -(body.keep_keys ?? 0),
  )
  const cloud = cloudAt(before.cloud, body.vertex)
  return { ...reports, keyCiphertexts, ...(cloud !== undefined && { cloud }) }
}

/** What may be null: none. */
const mergedRules = (before: StoredChannel, body: Change) => ({
  ...(body.auth && { auth: body.auth, vertex: vertexAfter(before, body) }),
  request: asDeclared(body.request, before.request),
  data: asDeclared(body.data, dataView(before.data) ?? undefined),
  cost_factor: asDeclared(body.cost_factor, before.costFactor),
  billing: body.billing ?? undefined,
  batches: asDeclared(body.batches, before.batches),
})

/** Another account stays where the last one was. */
function vertexAfter({ cloud }: StoredChannel, { auth, vertex }: Change) {
  if (vertex !== undefined) return vertex ?? undefined
  const isKept = auth?.google !== undefined && cloud?.location !== undefined
  return isKept ? { location: cloud.location! } : undefined
}

/** The same account at another location, or (null) at none. */
function cloudAt(cloud: Channel['cloud'], vertex: Change['vertex']): Channel['cloud'] {
  if (cloud === undefined || vertex === undefined) return cloud
  const { location: _, ...rest } = cloud
  return vertex === null ? rest : { ...rest, location: vertex.location }
}

const asDeclared = <Value>(given: Value | null | undefined, before: Value | undefined) =>
  given === undefined ? before : (given ?? undefined)

export function sealed(
  engine: ChannelDeps,
  { keys, ...rest }: Channel,
  atMs: number,
): StoredChannel {
  const encrypt = (key: string) => engine.seal.encrypt(key, rest.id)
  const { billing } = rest
  return {
    ...rest,
    ...(billing !== undefined && { billing: { ...billing, key: encrypt(billing.key) } }),
    keyCiphertexts: keys.map(encrypt),
    createdAtMs: atMs,
    updatedAtMs: atMs,
  }
}

export const timeoutsView = ({ timeouts }: Pick<Channel, 'timeouts'>) => ({
  connect: `${timeouts.connectMs}ms`,
  first_byte: `${timeouts.firstByteMs}ms`,
  idle: `${timeouts.idleMs}ms`,
  total: `${timeouts.totalMs}ms`,
})

/** What was stored, and how the channel made of it is doing. */
export function withHealth(
  engine: ChannelDeps,
  id: string,
  stored: View<typeof channelSchema>,
): View<typeof channelSchema> {
  const channel = find(engine, id)
  return channel === undefined ? stored : liveView(engine, channel)
}

export const liveView = (engine: ChannelDeps, channel: Channel): View<typeof channelSchema> => ({
  ...viewOf(channel, channel.keys.length),
  health: healthView(healthOf(engine, channel)),
})

const healthView = (health: ChannelHealth) => ({
  state: health.state,
  reason: health.reason ?? null,
  failures_in_row: health.failuresInRow,
  retry_at: timeOrNull(health.retryAtMs),
  busy: health.busy,
  keys: health.keys,
  denied_models: health.deniedModels,
})
export const storedView = (channel: StoredChannel) => viewOf(channel, channel.keyCiphertexts.length)

/** Header values of the file may come from files of secrets. */
function rulesView({ request, source }: Pick<Channel, 'request' | 'source'>) {
  if (request?.headers === undefined || source !== 'file') return request ?? null
  const { set, remove } = request.headers
  const hidden = Object.fromEntries(Object.keys(set).map((name) => [name, '(set in the file)']))
  return { ...request, headers: { set: hidden, remove } }
}

const viewOf = (channel: Omit<Channel, 'keys'>, keys: number) => ({
  id: channel.id,
  name: channel.name,
  region: channel.region,
  keys,
  protocols: channel.protocols,
  endpoints: Object.fromEntries(
    Object.entries(channel.protocols).map(([protocol, address]) => [
      protocol,
      vertexEndpoint(channel, protocol, address) ?? endpointOf(protocol, address),
    ]),
  ),
  models: channel.models,
  priority: channel.priority,
  weight: channel.weight,
  timeouts: timeoutsView(channel),
  max_concurrency: channel.maxConcurrency,
  messages: channel.messages,
  translation: channel.translation ?? ('on' as const),
  capabilities: capabilitiesView(channel.capabilities),
  ...(channel.realm !== undefined && { realm: channel.realm }),
  ...promptCacheView(channel),
  trace: channel.trace ?? true,
  ...cloudView(channel),
  request: rulesView(channel),
  data: dataView(channel.data),
  cost_factor: channel.costFactor ?? null,
  billing: billingView(channel.billing),
  batches: channel.batches ?? null,
  preset: channel.preset ?? null,
  retention: channel.retention ?? null,
  training: channel.training ?? null,
  disabled: channel.disabled,
  source: channel.source,
})
