// What bills are made of besides sums, and closed months, on every engine there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Entry } from '../../contract/ledger.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { entriesOf, firstMoneyMs, lastNumberBefore, listMovements } from './bills.ts'
import {
  type ClosedMonth,
  closedMonthPages,
  findClosedMonth,
  insertClosedMonth,
  lastClosedBefore,
  listClosedMonths,
  newestClosedMonths,
} from './closed-months.ts'
import { appendEntry } from './entries.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: bills on PostgreSQL (set TEST_POSTGRES_URL)')
}

const hour = 3_600_000

describe.each([...storeKinds])('a stretch of time on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    const entries: [number, Entry['kind'], bigint, Partial<Entry>?][] = [
      [5 * hour, 'credit', 1_000n],
      [10 * hour, 'hold', -50n],
      [11 * hour, 'release', 50n],
      [12 * hour, 'charge', -40n, { model: 'film', unit: 'video_second', quantity: 4.5 }],
      [13 * hour, 'credit', 7n, { note: 'for the mishap' }],
      [14 * hour, 'charge', -8n, { model: 'words', unit: 'token', quantity: 4 }],
      [20 * hour, 'adjust', -100n],
    ]
    await store.tx(async (tx) => {
      for (const id of ['acc_1', 'acc_2', 'acc_3']) {
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
      }
      for (const id of ['acc_1', 'acc_2']) {
        for (const [atMs, kind, amountNanos, more] of entries) {
          const ref = `${id}-${kind === 'release' ? 10 : atMs / hour}`
          await appendEntry(tx, { atMs, accountId: id, kind, amountNanos, ref, ...more })
        }
      }
    })
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const stretch = { accountId: 'acc_1', fromMs: 10 * hour, untilMs: 20 * hour }

  test('has its entries in order of booking, without holds', async () => {
    const refs: string[] = []
    for await (const page of entriesOf(store.read, stretch)) refs.push(...page.map((e) => e.ref))
    expect(refs).toEqual(['acc_1-12', 'acc_1-13', 'acc_1-14'])
  })

  test('has its credits and adjustments one by one', async () => {
    expect(await listMovements(store.read, stretch, 10)).toMatchObject([
      { atMs: 13 * hour, kind: 'credit', amountNanos: 7n, note: 'for the mishap' },
    ])
    const all = { ...stretch, fromMs: 0, untilMs: 21 * hour }
    expect((await listMovements(store.read, all, 10)).map(({ kind }) => kind)).toEqual([
      'credit',
      'credit',
      'adjust',
    ])
    expect(await listMovements(store.read, all, 2)).toHaveLength(2)
  })

  test('the first money of an account is found by its hour', async () => {
    expect(await firstMoneyMs(store.read, 'acc_1')).toBe(5 * hour)
    expect(await firstMoneyMs(store.read, 'acc_3')).toBeUndefined()
  })

  test('the last receipt of a month is the last one of a time before its end', async () => {
    const before = (ms: number) => lastNumberBefore(store.read, 'acc_2', ms)
    expect([await before(20 * hour), await before(21 * hour), await before(hour)]).toEqual([
      4, 5, 0,
    ])
  })

  const closed = (accountId: string, month: string): ClosedMonth => ({
    accountId,
    month,
    closedAtMs: 99,
    lastNumber: 4,
    body: `{"month":"${month}"}`,
    key: 'key',
    signature: 'signed',
  })

  test('a month is closed once, whoever comes second', async () => {
    const close = (month: ClosedMonth) => store.tx((tx) => insertClosedMonth(tx, month))
    const both = [close(closed('acc_1', '2026-09')), close(closed('acc_1', '2026-09'))]
    expect((await Promise.all(both)).toSorted()).toEqual([false, true])
    expect(await close({ ...closed('acc_1', '2026-11'), note: 'done' })).toBe(true)
    expect(await close(closed('acc_2', '2026-10'))).toBe(true)
    expect(await findClosedMonth(store.read, 'acc_1', '2026-11')).toEqual({
      ...closed('acc_1', '2026-11'),
      note: 'done',
    })
    expect(await findClosedMonth(store.read, 'acc_1', '2026-10')).toBeUndefined()
  })

  test('closed months are found by account, in order', async () => {
    const last = await lastClosedBefore(store.read, 'acc_1', '2026-11')
    expect(last?.month).toBe('2026-09')
    expect(await lastClosedBefore(store.read, 'acc_1', '2026-09')).toBeUndefined()
    const newest = async (month: string, ids: string[]) =>
      [...(await newestClosedMonths(store.read, ids, month))]
        .map(([id, closed]) => `${id} ${closed.month}`)
        .toSorted()
    const both = ['acc_1', 'acc_2', 'acc_3']
    expect(await newest('2026-11', both)).toEqual(['acc_1 2026-11', 'acc_2 2026-10'])
    expect(await newest('2026-10', ['acc_1'])).toEqual(['acc_1 2026-09'])
    expect(await newest('2026-08', both)).toEqual([])
    expect(await newestClosedMonths(store.read, [], '2026-11')).toEqual(new Map())
    const range = { from: '2026-09', until: '2026-12' }
    const months = await listClosedMonths(store.read, 'acc_1', range)
    expect(months.map(({ month }) => month)).toEqual(['2026-09', '2026-11'])
    const all: string[] = []
    for await (const page of closedMonthPages(store.read)) {
      all.push(...page.map(({ accountId, month }) => `${accountId} ${month}`))
    }
    expect(all).toEqual(['acc_1 2026-09', 'acc_1 2026-11', 'acc_2 2026-10'])
  })
})
