// Channels: upstream accounts. Keys go in and never come out again.
import type { Channel } from '../../contract/catalog.ts'
import { resolveChannel } from '../../contract/config-schema/index.ts'
import { Refusal } from '../../contract/errors.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { testChannel } from '../../engine/routing/probe-channel.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { deleteChannel, insertChannel, lockChannel } from '../../store/catalog/channels.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { auditChange, listOf, notFound, pageOfList } from '../answers.ts'
import { forOperators } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { deleted } from '../schema.ts'
import { channelChange, channelCreation, channelDraft } from './channel-body-schema.ts'
import {
  channelList,
  channelQuery,
  channel as channelSchema,
  channelTest,
  testRequest,
} from './channel-schema.ts'
import {
  changeChannel,
  find,
  fromDeclaration,
  liveView,
  misplaced,
  nameTaken,
  notOurs,
  sealed,
  storedView,
  withHealth,
} from './channel-store.ts'

async function create({ engine, body, x }: Ask<{ body: typeof channelCreation }>) {
  const { disabled = false, ...declared } = body
  const id = newShortId('chn', x.atMs)
  const channel = sealed(
    engine,
    { ...fromDeclaration(engine, resolveChannel(declared), id), disabled },
    x.atMs,
  )
  const refusal = misplaced(engine, channel)
  if (refusal !== undefined) return refusal
  const after = storedView(channel)
  try {
    await engine.store.tx(async (tx) => {
      await insertChannel(tx, channel)
      await auditChange(tx, x, { action: 'channel.create', subject: id, after })
    })
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return nameTaken(channel.name)
  }
  await announce(engine, noTokens)
  return withHealth(engine, id, after)
}

async function update({
  engine,
  found,
  body,
  x,
}: Ask<{ body: typeof channelChange; found: Channel }>) {
  if (found.source !== 'api') return notOurs(found)
  try {
    const changed = await engine.store.tx((tx) => changeChannel(engine, tx, x, found.id, body))
    await announce(engine, noTokens)
    return changed instanceof Refusal ? changed : withHealth(engine, found.id, changed)
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return nameTaken(body.name ?? found.name)
  }
}

/** Another key says nothing about the health of those that the channel has. */
const triedWith = (channel: Channel, key: string | undefined): Channel =>
  key === undefined ? channel : { ...channel, id: draftId, keys: [key] }

async function remove({ engine, id, found, x }: Ask<{ found: Channel }>) {
  if (found.source !== 'api') return notOurs(found)
  const existed = await engine.store.tx(async (tx) => {
    const channel = await lockChannel(tx, found.id)
    if (channel === undefined) return false
    await deleteChannel(tx, channel.id)
    const before = storedView(channel)
    await auditChange(tx, x, { action: 'channel.delete', subject: channel.id, before })
    return true
  })
  await announce(engine, noTokens)
  return existed ? { id: found.id, deleted: true as const } : notFound('channel', id)
}

/** Of a channel that is tried before it is there; one for all, so that nothing piles up. */
const draftId = 'chn_draft'

const either = 'A real call, for which no account pays. Answers 200 either way.'

const route = routesOf({
  tag: 'Channels',
  thing: 'channel',
  param: 'Id or name of a channel.',
  permission: forOperators,
  find,
})

export const channelRoutes = [
  route('POST /channels', {
    id: 'createChannel',
    summary: 'Add an upstream account',
    body: channelCreation,
    examples: {
      chat: {
        name: 'example-channel',
        keys: ['an-upstream-key'],
        protocols: { chat: 'https://up.example/compatible/v1' },
        models: { 'house-writer': 'writer-2026-01-01' },
        timeouts: { first_byte: '30s' },
      },
      preset: { preset: 'openai', keys: ['an-upstream-key'] },
    },
    answer: channelSchema,
    status: 201,
    refusals: ['conflict'],
    handle: create,
  }),
  route('GET /channels', {
    id: 'listChannels',
    summary: 'List channels, by name',
    query: channelQuery,
    answer: channelList,
    handle: ({ engine, page }) =>
      listOf(
        pageOfList(engine.catalog.channels, ({ name }) => name, page),
        (each) => liveView(engine, each),
      ),
  }),
  route('GET /channels/:id', {
    id: 'getChannel',
    summary: 'Get a channel',
    answer: channelSchema,
    handle: ({ engine, found }) => liveView(engine, found),
  }),
  route('PATCH /channels/:id', {
    id: 'changeChannel',
    summary: 'Change a channel',
    description: 'Time-outs one by one, all else is replaced as a whole.',
    body: channelChange,
    examples: {
      slower: { timeouts: { first_byte: '60s' }, priority: -1 },
      disabled: { disabled: true },
    },
    answer: channelSchema,
    refusals: ['conflict'],
    handle: update,
  }),
  route('DELETE /channels/:id', {
    id: 'deleteChannel',
    summary: 'Delete a channel',
    answer: deleted,
    refusals: ['conflict'],
    handle: remove,
  }),
  route('POST /channels/test', {
    id: 'tryChannel',
    summary: 'Make one cheap call through a channel before it is added',
    description: either,
    body: channelDraft,
    examples: {
      chat: {
        name: 'example-draft',
        keys: ['an-upstream-key'],
        protocols: { chat: 'http://127.0.0.1:9/v1' },
        models: { 'txta-plus': '*' },
      },
    },
    answer: channelTest,
    returns: 'How it went.',
    handle: ({ engine, body }) =>
      testChannel(engine, fromDeclaration(engine, resolveChannel(body), draftId), undefined),
  }),
  route('POST /channels/:id/test', {
    id: 'testChannel',
    summary: 'Make one cheap call through a channel',
    description: either,
    body: testRequest,
    optionalBody: true,
    examples: { model: { model: 'txta-plus' } },
    answer: channelTest,
    returns: 'How it went.',
    handle: ({ engine, found, body }) =>
      testChannel(engine, triedWith(found, body.key), body.model),
  }),
]
