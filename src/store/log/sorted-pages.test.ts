// Sorted pages of the request log: over all rows, each once, whatever is equal.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { RequestRecord } from '../../contract/requests.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import type { Dialect } from '../schema.ts'
import { setMeta } from '../sql/meta.ts'
import { insertTask } from '../tasks/tasks.ts'
import { aTask } from '../tasks/test-tasks.ts'
import { aRequest, lcg, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { addMissingFigures } from './figures.ts'
import { indexNextSegment } from './indexer.ts'
import { segmentRows } from './posting-list.ts'
import { listRequests, type RequestFilter } from './requests.ts'
import { logHorizonKey } from './watermark.ts'

const neverMs = 600_000
const startMs = 1_700_000_000_000
const tasks = 40

describe.each(storeKinds as Dialect[])('the sorted request log on %s', (dialect) => {
  let place: Place
  let store: Store
  const rows: RequestRecord[] = []

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open({ logIndexer: { quietMs: neverMs } })
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'one', source: 'api', createdAtMs: 1 }),
    )
    const random = lcg(7)
    for (let i = 0; i < 2 * segmentRows + 500; i++) {
      const atMs = startMs + i
      // Few values, so that many rows are equal.
      const row = aRequest({
        ...{ atMs, requestId: newId('req', atMs), totalMs: random(40) },
        model: random(50) === 0 ? 'rare' : 'usual',
        status: random(9) === 0 ? 503 : 200,
        chargeNanos: BigInt(random(30)) * 1_000n,
      })
      if (i % 200 === 3 && rows.length < 200 * tasks) {
        const taskId = newId('video', atMs)
        row.chargeNanos = 0n
        row.detail = { ...row.detail, taskId }
        const chargeNanos = BigInt(random(40)) * 1_000n
        const task = aTask({ id: taskId, requestId: row.requestId, createdAtMs: atMs, chargeNanos })
        await store.tx((tx) => insertTask(tx, task))
        taskCharges.set(row.requestId, chargeNanos)
      }
      rows.push(row)
    }
    await Promise.all(rows.map((row) => store.record(row)))
    while (await indexNextSegment(store, 10 * segmentRows));
  })

  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const taskCharges = new Map<string, bigint>()
  const chargeOf = (row: RequestRecord) => taskCharges.get(row.requestId) ?? row.chargeNanos

  async function walk(filter: Partial<RequestFilter>, limit = 333): Promise<RequestRecord[]> {
    const found: RequestRecord[] = []
    let cursor: string | undefined
    do {
      const page = await listRequests(store.read, { ...filter, limit, cursor })
      found.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return found
  }

  const figures = {
    charge: (row: RequestRecord) => Number(chargeOf(row)),
    duration: ({ totalMs }: RequestRecord) => totalMs,
    time: ({ atMs }: RequestRecord) => atMs,
  } as const

  const filters: [string, Partial<RequestFilter>, (row: RequestRecord) => boolean][] = [
    ['all', {}, () => true],
    ['a model', { model: 'rare' }, ({ model }) => model === 'rare'],
    ['failures', { status: { from: 500, to: 599 } }, ({ status }) => status >= 500],
    [
      'a period',
      { fromMs: startMs + 1_000, toMs: startMs + 5_000 },
      ({ atMs }) => atMs >= startMs + 1_000 && atMs < startMs + 5_000,
    ],
  ]

  test.each(filters)(
    'has %s in order, each row once, in both directions',
    async (_, filter, passes) => {
      const expected = rows.filter(passes)
      for (const sort of ['charge', 'duration', 'time'] as const) {
        for (const isRising of [false, true]) {
          const found = await walk({ ...filter, sort, isRising })
          expect(new Set(found.map(({ requestId }) => requestId)).size).toBe(found.length)
          expect(found.length).toBe(expected.length)
          const sorted = expected.map(figures[sort]).sort((a, b) => (isRising ? a - b : b - a))
          expect(found.map(figures[sort])).toEqual(sorted)
        }
      }
    },
  )

  test('segments from before have the same order, and get their figures one by one', async () => {
    const sorted = { sort: 'charge' as const, limit: 100 }
    const before = await listRequests(store.read, sorted)
    await store.tx((tx) => tx.deleteFrom('log_figures').execute())
    expect(await listRequests(store.read, sorted)).toEqual(before)
    const segments = await store.read.selectFrom('log_segments').select('segment').execute()
    let added = 0
    while (await store.tx((tx) => addMissingFigures(tx, dialect))) added++
    expect(added).toBe(segments.length)
    expect(added).toBeGreaterThan(1)
    expect(await listRequests(store.read, sorted)).toEqual(before)
  })

  test('tasks whose requests the log no longer has leave no page empty', async () => {
    const { rows: known } = await sql<object>`SELECT * FROM tasks LIMIT 1`.execute(store.read)
    const columns = Object.keys(known[0]!)
    const gone: Record<string, string> = {
      id: `'gone_' || row_number() OVER ()`,
      request_id: `'req_gone_' || row_number() OVER ()`,
      created_at_ms: '1',
      charge_nanos: '1000000000',
    }
    const values = columns.map((name) => gone[name] ?? `a.${name}`)
    // More than are read for one page.
    await store.tx(async (tx) => {
      await sql`INSERT INTO tasks (${sql.raw(columns.join(', '))}) SELECT ${sql.raw(values.join(', '))}
        FROM tasks AS a, tasks AS b, tasks AS c LIMIT 33000`.execute(tx)
      await setMeta(tx, logHorizonKey, String(startMs))
    })
    const { items } = await listRequests(store.read, { sort: 'charge', limit: 10 })
    expect(items.length).toBe(10)
  })

  test('another cursor is refused', async () => {
    const { nextCursor } = await listRequests(store.read, { limit: 5 })
    const read = listRequests(store.read, { limit: 5, sort: 'charge', cursor: nextCursor })
    expect(await read.catch((error: Error) => error.name)).toBe('BadCursor')
  })
})
