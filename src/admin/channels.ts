// Channels: upstream accounts. Keys go in and never come out again.
import { z } from 'zod'
import type { Channel } from '../contract/catalog.ts'
import {
  type ChannelDeclaration,
  channelDeclaration,
  channelFrom,
} from '../contract/declarations.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { refresh } from '../engine/refresh.ts'
import { testChannel } from '../engine/test-channel.ts'
import { newShortId } from '../lib/ids.ts'
import {
  deleteChannel,
  findChannel,
  insertChannel,
  type StoredChannel,
  updateChannel,
} from '../store/channels.ts'
import { noteChange, notFound, type Resource, readBody, route } from './route.ts'

const change = channelDeclaration.partial().extend({ disabled: z.boolean().optional() })
const test = z.strictObject({ model: z.string().optional() })

export const channels: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/channels',
    route(async (_, x) => {
      const body = await readBody(x, deps, channelDeclaration)
      if (body instanceof Refusal) return body
      const channel = fromDeclaration(engine, body, newShortId('chn', x.atMs))
      const refusal = misplaced(engine, channel)
      if (refusal !== undefined) return refusal
      await store.tx(async (tx) => {
        await insertChannel(tx, { ...sealed(engine, channel, x.atMs), createdAtMs: x.atMs })
        const after = view(channel)
        await noteChange(tx, x.atMs, { action: 'channel.create', subject: channel.id, after })
      })
      await refresh(engine)
      return view(channel)
    }, 201),
  )

  app.get(
    '/channels',
    route(() => ({ items: engine.catalog.channels.map(view), next_cursor: null })),
  )

  app.get(
    '/channels/:id',
    route(({ id }) => {
      const channel = find(engine, id)
      return channel === undefined ? notFound('channel', id) : view(channel)
    }),
  )

  app.patch(
    '/channels/:id',
    route(async ({ id }, x) => {
      const before = find(engine, id)
      if (before === undefined) return notFound('channel', id)
      if (before.source !== 'api') return notOurs(before)
      const body = await readBody(x, deps, change)
      if (body instanceof Refusal) return body
      const after = merged(engine, before, body)
      const refusal = misplaced(engine, after)
      if (refusal !== undefined) return refusal
      const existed = await store.tx(async (tx) => {
        if ((await findChannel(tx, before.id)) === undefined) return false
        await noteChange(tx, x.atMs, {
          action: 'channel.update',
          subject: before.id,
          before: view(before),
          after: view(after),
        })
        return updateChannel(tx, sealed(engine, after, x.atMs))
      })
      await refresh(engine)
      return existed ? view(after) : notFound('channel', id)
    }),
  )

  app.delete(
    '/channels/:id',
    route(async ({ id }, x) => {
      const before = find(engine, id)
      if (before === undefined) return notFound('channel', id)
      if (before.source !== 'api') return notOurs(before)
      await store.tx(async (tx) => {
        await deleteChannel(tx, before.id)
        const change = { action: 'channel.delete', subject: before.id, before: view(before) }
        await noteChange(tx, x.atMs, change)
      })
      await refresh(engine)
      return { id: before.id, deleted: true }
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
}

const hasBody = (request: Request): boolean =>
  request.headers.get('content-length') !== '0' && request.body !== null

const find = (engine: Engine, idOrName: string): Channel | undefined =>
  engine.catalog.channels.find(({ id, name }) => id === idOrName || name === idOrName)

const notOurs = ({ name, source }: Channel): Refusal =>
  refuse(
    'conflict',
    source === 'file'
      ? `channel '${name}' is declared in the configuration file; change it there`
      : `channel '${name}' belongs to the gateway itself`,
  )

const fromDeclaration = (engine: Engine, body: ChannelDeclaration, id: string): Channel =>
  channelFrom(body, { id, source: 'api', region: engine.declared.file.region })

/** A channel of another region is never taken in, and names stay unique over all sources. */
function misplaced(engine: Engine, channel: Channel): Refusal | undefined {
  const { region } = engine.declared.file
  if (channel.region !== region) {
    const message = `region is ${channel.region}, but this gateway's region is ${region}`
    return refuse('invalid_request', message, { param: 'region' })
  }
  const other = engine.catalog.channels.find(({ name }) => name === channel.name)
  if (other === undefined || other.id === channel.id) return undefined
  return refuse('conflict', `there is a channel '${channel.name}' already`, { param: 'name' })
}

/** Fields that are given replace the old ones; time-outs one by one. */
function merged(engine: Engine, before: Channel, body: z.infer<typeof change>): Channel {
  const declared = fromDeclaration(
    engine,
    {
      name: body.name ?? before.name,
      keys: body.keys ?? [...before.keys],
      protocols: body.protocols ?? { ...before.protocols },
      models: body.models ?? { ...before.models },
      region: body.region ?? before.region,
      priority: body.priority ?? before.priority,
      weight: body.weight ?? before.weight,
      max_concurrency: body.max_concurrency ?? before.maxConcurrency,
      timeouts: { ...timeoutsView(before), ...body.timeouts },
    },
    before.id,
  )
  return { ...declared, disabled: body.disabled ?? before.disabled }
}

function sealed(
  engine: Engine,
  channel: Channel,
  atMs: number,
): Omit<StoredChannel, 'createdAtMs'> {
  const { keys, ...rest } = channel
  const keyCiphertexts = keys.map((key) => engine.seal.encrypt(key, channel.id))
  return { ...rest, keyCiphertexts, updatedAtMs: atMs }
}

const timeoutsView = ({ timeouts }: Channel) => ({
  connect: `${timeouts.connectMs}ms`,
  first_byte: `${timeouts.firstByteMs}ms`,
  idle: `${timeouts.idleMs}ms`,
  total: `${timeouts.totalMs}ms`,
})

const view = (channel: Channel) => ({
  id: channel.id,
  name: channel.name,
  region: channel.region,
  keys: channel.keys.length,
  protocols: channel.protocols,
  models: channel.models,
  priority: channel.priority,
  weight: channel.weight,
  timeouts: timeoutsView(channel),
  max_concurrency: channel.maxConcurrency,
  disabled: channel.disabled,
  source: channel.source,
})
