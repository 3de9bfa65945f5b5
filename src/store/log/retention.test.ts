import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import type { RequestRecord } from '../../contract/requests.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { findEntries, listEntries } from '../ledger/entries.ts'
import { migrations } from '../migrations/index.ts'
import type { Dialect } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'
import { aRequest, charged, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { indexNextSegment } from './indexer.ts'
import { listPartitions, makeWeeks, mondayOf } from './partitions.ts'
import { segmentRows } from './posting-list.ts'
import { findRequest, listRequests } from './requests.ts'
import { trimLog } from './retention.ts'
import { sumTraffic } from './traffic.ts'
import { logHorizonMs } from './watermark.ts'

const patientMs = 60_000
const dayMs = 86_400_000
const nowMs = Date.now()
const keepMs = 30 * dayMs
const oldMs = mondayOf(nowMs - 60 * dayMs) + 1_000

const at = (atMs: number, more: Partial<RequestRecord> = {}) =>
  aRequest({ atMs, requestId: newId('req', atMs), ...more })

describe.each(storeKinds as Dialect[])('the request log on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open({ logIndexer: { quietMs: patientMs } })
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'one', source: 'api', createdAtMs: 1 }),
    )
  })

  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  /** A segment and a half of old rows, all in a week of their own, then new ones. */
  async function writeLog(): Promise<{ old: RequestRecord; recent: RequestRecord }> {
    if (dialect === 'postgres') await makeWeeks(store, oldMs, oldMs + dayMs)
    const old = at(oldMs, { model: 'old', upstreamRequestId: 'up_old', chargeNanos: 7n })
    await store.record(charged(old, 7n))
    const fill = Array.from({ length: segmentRows - 2 }, () => at(oldMs, { model: 'old' }))
    await Promise.all(fill.map((row) => store.record(row)))
    const more = Array.from({ length: segmentRows }, () => at(nowMs - dayMs))
    await Promise.all(more.map((row) => store.record(row)))
    const recent = at(nowMs - dayMs, { model: 'recent' })
    await store.record(recent)
    while (await indexNextSegment(store, 3 * segmentRows));
    return { old, recent }
  }

  test('rows that were kept long enough go, with all that was made of them but the sums', async () => {
    const { old, recent } = await writeLog()
    expect(await findRequest(store.read, 'up_old')).toHaveLength(1)
    const horizonMs = await trimLog(store, { nowMs, keepMs })

    expect(horizonMs).toBeGreaterThan(oldMs)
    expect(horizonMs).toBeLessThanOrEqual(nowMs - keepMs)
    expect(await logHorizonMs(store.read)).toBe(horizonMs)
    expect(await findRequest(store.read, old.requestId)).toEqual([])
    expect(await findRequest(store.read, 'up_old')).toEqual([])
    expect((await listRequests(store.read, { limit: 5, model: 'old' })).items).toEqual([])
    const { items } = await listRequests(store.read, { limit: 5 })
    expect(items[0]?.requestId).toBe(recent.requestId)
    for (const table of ['upstream_ids', 'log_values', 'log_figures', 'log_segments'] as const) {
      const rows = await store.read.selectFrom(table).select('segment').execute()
      expect(rows.filter(({ segment }) => segment === 0)).toEqual([])
    }

    expect((await listEntries(store.read, 'acc_1', { limit: 5 })).items).toHaveLength(1)
    const span = { fromMs: oldMs - dayMs, untilMs: oldMs + dayMs }
    const traffic = await sumTraffic(store.read, { ...span, time: 'day', by: [], where: {} })
    expect(traffic?.sums.map(({ requests }) => requests)).toEqual([segmentRows - 1])
  })

  test('a call that was charged stays in the ledger, with its receipt and without its detail', async () => {
    const { old } = await writeLog()
    const [before] = await findEntries(store.read, old.requestId)
    await trimLog(store, { nowMs, keepMs })
    expect(await findEntries(store.read, old.requestId)).toEqual([before!])
    const rows = await store.read
      .selectFrom('requests')
      .selectAll()
      .where('request_id', '=', old.requestId)
      .execute()
    expect(rows).toMatchObject([{ number: 1, detail: '', upstream_request_id: null }])
  })

  test('the next row has a new number when every row that may go has gone', async () => {
    await writeLog()
    const newest = await store.read.selectFrom('requests').select('seq').orderBy('seq').execute()
    await trimLog(store, { nowMs: nowMs + 10 * keepMs, keepMs })
    const row = at(nowMs)
    await store.record(row)
    const numbers = await store.read
      .selectFrom('requests')
      .select('seq')
      .where('request_id', '=', row.requestId)
      .execute()
    expect(numbers[0]!.seq).toBeGreaterThan(newest.at(-1)!.seq)
  })

  test('rows from before the upgrade are all there afterwards, and new ones go on from them', async () => {
    await store.close()
    await place.remove()
    place = await newPlace(dialect, { empty: true })
    await writeOldDatabase(place, dialect)
    store = await place.open({ logIndexer: { quietMs: patientMs } })
    const row = at(nowMs)
    await store.record(row)
    await store.record(row)
    const { items } = await listRequests(store.read, { limit: 10 })
    expect(items.map(({ requestId }) => requestId)).toEqual([
      row.requestId,
      'req_ffffffffffff',
      `req_${oldMs.toString(16).padStart(12, '0')}`,
      'req_1',
    ])
    expect(await getMeta(store.read, 'schema_version')).toBe(String(migrations.at(-1)!.version))
    const numbers = await store.read.selectFrom('requests').select('seq').orderBy('seq').execute()
    expect(numbers.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
  })

  if (dialect === 'sqlite') return

  test('weeks are made ahead once, and take over what the default partition had of them', async () => {
    const laterMs = mondayOf(nowMs + 90 * dayMs) + 5_000
    const early = at(laterMs)
    await store.record(early)
    expect(await makeWeeks(store, laterMs, laterMs + 1)).toBe(1)
    expect(await makeWeeks(store, laterMs, laterMs + 1)).toBe(0)
    const { rows } = await sql`SELECT 1 FROM requests_rest`.execute(store.read)
    expect(rows).toEqual([])
    expect(await findRequest(store.read, early.requestId)).toHaveLength(1)
    const names = (await listPartitions(store.read)).map(({ name }) => name)
    expect(names.at(-1)).toBe('requests_rest')
  })
})

const oldRows = ['req_1', `req_${oldMs.toString(16).padStart(12, '0')}`, 'req_ffffffffffff']

/** As the release before wrote it. */
async function writeOldDatabase({ options }: Place, dialect: Dialect): Promise<void> {
  const statements = [
    `CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)`,
    ...migrations.filter(({ version }) => version < 6).flatMap(({ up }) => up(dialect)),
    ...oldRows.map(
      (id) => `INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model,
        status, charge_nanos, total_ms, detail) VALUES ('${id}', 1, 'acc_1', 'tok_1', 'chat', 'm',
        200, 0, 1, '{"stream":false,"ending":"complete","attempts":[]}')`,
    ),
    `INSERT INTO meta VALUES ('schema_version', '5'), ('upstream_ids_seq', '3')`,
  ]
  if (dialect === 'sqlite') {
    mkdirSync(options.dataDir, { recursive: true })
    const db = new Database(join(options.dataDir, 'gateway.db'))
    for (const statement of statements) db.run(statement)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: options.databaseUrl! })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
