// Sums and lines of a stretch of time, on every engine there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Entry } from '../contract/ledger.ts'
import { insertAccount } from './accounts.ts'
import { balanceBefore, entriesOf, sumStretch } from './bills.ts'
import { appendEntry } from './entries.ts'
import type { Store } from './index.ts'
import { engines, newPlace, type Place } from './test-engines.ts'

if (!engines.includes('postgres')) {
  console.error('left out: bills on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...engines])('a stretch of time on %s', (engine) => {
  let place: Place
  let store: Store

  beforeAll(async () => {
    place = await newPlace(engine)
    store = await place.open()
    const entries: [number, Entry['kind'], bigint, Partial<Entry>?][] = [
      [5, 'credit', 1_000n],
      [10, 'hold', -50n],
      [11, 'release', 50n],
      [12, 'charge', -40n, { model: 'film', unit: 'video_second', quantity: 4.5 }],
      [13, 'charge', -7n, { model: 'words', unit: 'token', quantity: 3 }],
      [14, 'charge', -8n, { model: 'words', unit: 'token', quantity: 4 }],
      [20, 'adjust', -100n],
    ]
    await store.tx(async (tx) => {
      for (const id of ['acc_1', 'acc_2']) {
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
        for (const [atMs, kind, amountNanos, more] of entries) {
          const ref = `${id}-${kind === 'release' ? 10 : atMs}`
          await appendEntry(tx, { atMs, accountId: id, kind, amountNanos, ref, ...more })
        }
      }
    })
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const stretch = { accountId: 'acc_1', fromMs: 10, untilMs: 20 }

  test('is summed by kind, model and unit, without holds', async () => {
    expect(await sumStretch(store.read, stretch)).toEqual([
      {
        kind: 'charge',
        model: 'film',
        unit: 'video_second',
        entries: 1,
        quantity: 4.5,
        amountNanos: -40n,
      },
      { kind: 'charge', model: 'words', unit: 'token', entries: 2, quantity: 7, amountNanos: -15n },
    ])
  })

  test('begins with what moved before it', async () => {
    expect(await balanceBefore(store.read, 'acc_1', 10)).toBe(1_000n)
    expect(await balanceBefore(store.read, 'acc_1', 5)).toBe(0n)
    expect(await balanceBefore(store.read, 'acc_1', 100)).toBe(845n)
  })

  test('has its entries in order of booking', async () => {
    const refs: string[] = []
    for await (const page of entriesOf(store.read, stretch)) refs.push(...page.map((e) => e.ref))
    expect(refs).toEqual(['acc_1-12', 'acc_1-13', 'acc_1-14'])
  })
})
