// Rows of channels and their keys. Keys are ciphertext here; decryption happens elsewhere.
import type { Kysely, Selectable } from 'kysely'
import type { Channel } from '../../contract/catalog.ts'
import { messagesFrom } from '../../contract/config-schema/index.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { Schema } from '../schema.ts'

export type StoredChannel = Omit<Channel, 'keys'> & {
  /** In the order in which the keys were configured. */
  keyCiphertexts: readonly string[]
  createdAtMs: number
  updatedAtMs: number
}

export async function insertChannel(tx: Kysely<Schema>, channel: StoredChannel): Promise<void> {
  await tx
    .insertInto('channels')
    .values({
      id: channel.id,
      name: channel.name,
      body: bodyOf(channel),
      created_at_ms: channel.createdAtMs,
      updated_at_ms: channel.updatedAtMs,
    })
    .execute()
  await putKeys(tx, channel.id, channel.keyCiphertexts)
}

/** Replaces the channel with all its keys; false when it does not exist. */
export async function updateChannel(
  tx: Kysely<Schema>,
  channel: Omit<StoredChannel, 'createdAtMs'>,
): Promise<boolean> {
  const result = await tx
    .updateTable('channels')
    .set({ name: channel.name, body: bodyOf(channel), updated_at_ms: channel.updatedAtMs })
    .where('id', '=', channel.id)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return false
  await tx.deleteFrom('channel_keys').where('channel_id', '=', channel.id).execute()
  await putKeys(tx, channel.id, channel.keyCiphertexts)
  return true
}

export async function deleteChannel(tx: Kysely<Schema>, id: string): Promise<boolean> {
  await tx.deleteFrom('channel_keys').where('channel_id', '=', id).execute()
  const result = await tx.deleteFrom('channels').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows === 1n
}

export async function findChannel(
  db: Kysely<Schema>,
  id: string,
): Promise<StoredChannel | undefined> {
  const rows = await db.selectFrom('channels').selectAll().where('id', '=', id).execute()
  return (await withKeys(db, rows))[0]
}

/** Reads the channel and locks its row until the transaction ends. */
export async function lockChannel(
  tx: Kysely<Schema>,
  id: string,
): Promise<StoredChannel | undefined> {
  // A write takes the row lock on both dialects; reads after it see the newest version.
  await tx
    .updateTable('channels')
    .set((e) => ({ updated_at_ms: e.ref('updated_at_ms') }))
    .where('id', '=', id)
    .execute()
  return findChannel(tx, id)
}

/** All of them, for the snapshot in memory. */
export async function loadChannels(db: Kysely<Schema>): Promise<StoredChannel[]> {
  return withKeys(db, await db.selectFrom('channels').selectAll().orderBy('id').execute())
}

async function putKeys(
  tx: Kysely<Schema>,
  channelId: string,
  ciphertexts: readonly string[],
): Promise<void> {
  if (ciphertexts.length === 0) return
  const rows = ciphertexts.map((ciphertext, position) => ({
    id: newId('key'),
    channel_id: channelId,
    position,
    ciphertext,
  }))
  await tx.insertInto('channel_keys').values(rows).execute()
}

/** All fields without a column of their own; keys are excluded in any spelling. */
function bodyOf(channel: Omit<StoredChannel, 'createdAtMs'>): string {
  const { region, protocols, models, priority, weight, timeouts } = channel
  const { maxConcurrency, messages, translation, capabilities, realm } = channel
  const { affinity, autoCache, trace, disabled, source } = channel
  const { preset, retention, training, request, data, cloud } = channel
  const { costFactor, billing, batches } = channel
  return JSON.stringify({
    region,
    protocols,
    models,
    priority,
    weight,
    timeouts,
    maxConcurrency,
    messages,
    translation,
    capabilities,
    realm,
    affinity,
    autoCache,
    trace,
    request,
    data,
    costFactor,
    billing,
    batches,
    cloud,
    preset,
    retention,
    training,
    disabled,
    source,
  })
}

type Body = Omit<Channel, 'id' | 'name' | 'keys'>

/** Rows of older versions lack fields that were added later. */
function storedBody(text: string): Body {
  const body = JSON.parse(text) as Partial<Body>
  return { messages: messagesFrom(undefined), ...body } as Body
}

async function withKeys(
  db: Kysely<Schema>,
  rows: readonly Selectable<Schema['channels']>[],
): Promise<StoredChannel[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const keys = await db
    .selectFrom('channel_keys')
    .select(['channel_id', 'ciphertext'])
    .where('channel_id', 'in', ids)
    .orderBy('channel_id')
    .orderBy('position')
    .execute()
  return rows.map((row) => ({
    ...storedBody(row.body),
    id: row.id,
    name: row.name,
    keyCiphertexts: keys.filter((key) => key.channel_id === row.id).map((key) => key.ciphertext),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }))
}
