// Channels: upstream accounts. Keys go in and never come out again.
import { z } from 'zod'
import type { Channel } from '../../contract/catalog.ts'
import {
  type ChannelDeclaration,
  channelDeclaration,
  channelFrom,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { announce } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { type ChannelHealth, healthOf } from '../../engine/routing/channel-health.ts'
import { discoverModels } from '../../engine/routing/discover-models.ts'
import { testChannel } from '../../engine/routing/probe-channel.ts'
import type { Exchange } from '../../http/exchange.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import {
  deleteChannel,
  insertChannel,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../../store/catalog/channels.ts'
import { isUniqueConflict, type Tx } from '../../store/index.ts'
import {
  listOf,
  notFound,
  pageOfList,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'
import { keysNeeded } from './channel-origins.ts'

const isDisabled = { disabled: z.boolean().optional() }
export const creation = channelDeclaration.extend(isDisabled)
export const change = channelDeclaration.partial().extend(isDisabled)
type Change = z.infer<typeof change>
export const test = z.strictObject({ model: z.string().max(128).optional() })

export const channels: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/channels',
    route(async (_, x) => {
      const body = await readBody(x, deps, creation)
      if (body instanceof Refusal) return body
      const { disabled = false, ...declared } = body
      const id = newShortId('chn', x.atMs)
      const made = { ...fromDeclaration(engine, declared, id), disabled }
      const channel = sealed(engine, made, x.atMs)
      const refusal = misplaced(engine, channel)
      if (refusal !== undefined) return refusal
      const after = storedView(channel)
      try {
        await store.tx(async (tx) => {
          await insertChannel(tx, channel)
          await recordChange(tx, x, { action: 'channel.create', subject: id, after })
        })
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return nameTaken(channel.name)
      }
      await announce(engine)
      return withHealth(engine, id, after)
    }, 201),
  )

  app.get(
    '/channels',
    route(({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      return listOf(
        pageOfList(engine.catalog.channels, ({ name }) => name, page),
        (channel) => liveView(engine, channel),
      )
    }),
  )

  app.get(
    '/channels/:id',
    route(({ id }) => {
      const channel = find(engine, id)
      return channel === undefined ? notFound('channel', id) : liveView(engine, channel)
    }),
  )

  app.patch(
    '/channels/:id',
    route(async ({ id }, x) => {
      const found = find(engine, id)
      if (found === undefined) return notFound('channel', id)
      if (found.source !== 'api') return notOurs(found)
      const body = await readBody(x, deps, change)
      if (body instanceof Refusal) return body
      try {
        const changed = await store.tx((tx) => changeChannel(engine, tx, x, found.id, body))
        await announce(engine)
        return changed instanceof Refusal ? changed : withHealth(engine, found.id, changed)
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return nameTaken(body.name ?? found.name)
      }
    }),
  )

  app.delete(
    '/channels/:id',
    route(async ({ id }, x) => {
      const found = find(engine, id)
      if (found === undefined) return notFound('channel', id)
      if (found.source !== 'api') return notOurs(found)
      const existed = await store.tx(async (tx) => {
        const channel = await lockChannel(tx, found.id)
        if (channel === undefined) return false
        await deleteChannel(tx, channel.id)
        const before = storedView(channel)
        await recordChange(tx, x, { action: 'channel.delete', subject: channel.id, before })
        return true
      })
      await announce(engine)
      return existed ? { id: found.id, deleted: true } : notFound('channel', id)
    }),
  )

  app.post(
    '/channels/test',
    route(async (_, x) => {
      const body = await readBody(x, deps, channelDeclaration)
      if (body instanceof Refusal) return body
      return testChannel(engine, fromDeclaration(engine, body, draftId), undefined)
    }),
  )

  app.post(
    '/channels/:id/test',
    route(async ({ id }, x) => {
      const channel = find(engine, id)
      if (channel === undefined) return notFound('channel', id)
      const body = hasBody(x.request) ? await readBody(x, deps, test) : {}
      if (body instanceof Refusal) return body
      return testChannel(engine, channel, body.model)
    }),
  )

  app.post(
    '/channels/:id/discover',
    route(({ id }) => {
      const channel = find(engine, id)
      return channel === undefined ? notFound('channel', id) : discoverModels(engine, channel)
    }),
  )
}

/** Of a channel that is tried before it is there; one for all, so that nothing piles up. */
const draftId = 'chn_draft'

const hasBody = (request: Request): boolean =>
  request.headers.get('content-length') !== '0' && request.body !== null

export const find = (engine: Engine, idOrName: string): Channel | undefined =>
  engine.catalog.channels.find(({ id, name }) => id === idOrName || name === idOrName)

export const notOurs = ({ name, source }: Channel): Refusal =>
  refuse(
    'conflict',
    source === 'file'
      ? `channel '${name}' is declared in the configuration file; change it there`
      : `channel '${name}' belongs to the gateway itself`,
  )

export const fromDeclaration = (engine: Engine, body: ChannelDeclaration, id: string): Channel =>
  channelFrom(body, { id, source: 'api', region: engine.declared.file.region })

/** A channel of another region is never taken in, and names stay unique over all sources. */
export function misplaced(engine: Engine, channel: StoredChannel): Refusal | undefined {
  const { region } = engine.declared.file
  if (channel.region !== region) {
    const message = `region is ${channel.region}, but this gateway's region is ${region}`
    return refuse('invalid_request', message, { param: 'region' })
  }
  const other = engine.catalog.channels.find(({ name }) => name === channel.name)
  if (other === undefined || other.id === channel.id) return undefined
  return nameTaken(channel.name)
}

const nameTaken = (name: string): Refusal =>
  refuse('conflict', `there is a channel '${name}' already`, { param: 'name' })

/** Built on the stored row, not on the one in memory: changes at once must not undo each other. */
export async function changeChannel(
  engine: Engine,
  tx: Tx,
  x: Exchange,
  id: string,
  body: Change,
): Promise<object | Refusal> {
  const stored = await lockChannel(tx, id)
  if (stored === undefined) return notFound('channel', id)
  const channel = merged(engine, stored, body, x.atMs)
  const refusal = unacceptable(engine, stored, channel, body)
  if (refusal !== undefined) return refusal
  await updateChannel(tx, channel)
  const after = storedView(channel)
  await recordChange(tx, x, {
    action: 'channel.update',
    subject: id,
    before: storedView(stored),
    // New keys look like the old ones from outside.
    after: body.keys === undefined ? after : { ...after, keys_replaced: true },
  })
  return after
}

/** Why a change is refused: another region, a name in use, or stored keys for another origin. */
export const unacceptable = (
  engine: Engine,
  before: Pick<Channel, 'protocols'>,
  after: StoredChannel,
  { keys }: Pick<Change, 'keys'>,
): Refusal | undefined =>
  misplaced(engine, after) ??
  (keys === undefined ? keysNeeded(before.protocols, after.protocols) : undefined)

/** Fields that are given replace the old ones; time-outs one by one. Old keys stay sealed. */
export function merged(
  engine: Engine,
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
      trace: body.trace ?? before.trace ?? true,
    },
    before.id,
  )
  const after = sealed(engine, declared, atMs)
  return {
    ...after,
    keyCiphertexts: body.keys === undefined ? before.keyCiphertexts : after.keyCiphertexts,
    disabled: body.disabled ?? before.disabled,
    createdAtMs: before.createdAtMs,
  }
}

export function sealed(engine: Engine, { keys, ...rest }: Channel, atMs: number): StoredChannel {
  const keyCiphertexts = keys.map((key) => engine.seal.encrypt(key, rest.id))
  return { ...rest, keyCiphertexts, createdAtMs: atMs, updatedAtMs: atMs }
}

export const timeoutsView = ({ timeouts }: Pick<Channel, 'timeouts'>) => ({
  connect: `${timeouts.connectMs}ms`,
  first_byte: `${timeouts.firstByteMs}ms`,
  idle: `${timeouts.idleMs}ms`,
  total: `${timeouts.totalMs}ms`,
})

/** What was stored, and how the channel made of it is doing. */
function withHealth(engine: Engine, id: string, stored: object): object {
  const channel = find(engine, id)
  return channel === undefined ? stored : liveView(engine, channel)
}

const liveView = (engine: Engine, channel: Channel) => ({
  ...viewOf(channel, channel.keys.length),
  health: healthView(healthOf(engine, channel)),
})

const healthView = (health: ChannelHealth) => ({
  state: health.state,
  failures_in_row: health.failuresInRow,
  retry_at: health.retryAtMs === undefined ? null : time(health.retryAtMs),
  busy: health.busy,
  keys: health.keys,
  denied_models: health.deniedModels,
})
export const storedView = (channel: StoredChannel) => viewOf(channel, channel.keyCiphertexts.length)

const viewOf = (channel: Omit<Channel, 'keys'>, keys: number) => ({
  id: channel.id,
  name: channel.name,
  region: channel.region,
  keys,
  protocols: channel.protocols,
  models: channel.models,
  priority: channel.priority,
  weight: channel.weight,
  timeouts: timeoutsView(channel),
  max_concurrency: channel.maxConcurrency,
  messages: channel.messages,
  trace: channel.trace ?? true,
  disabled: channel.disabled,
  source: channel.source,
})
