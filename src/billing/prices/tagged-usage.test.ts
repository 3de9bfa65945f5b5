// Charges by tag against a plain sum over the ledger, to the nano-unit, while receipts are being
// written: a property over random bookings.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Entry } from '../../contract/ledger.ts'
import { tagIn, tagText, withEndUser } from '../../contract/tags/index.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { inSnapshot, type Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { makeBill } from '../bills/bill.ts'
import { sumTaggedUsage } from './tagged-usage.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: charges by tag on PostgreSQL (set TEST_POSTGRES_URL)')
}

const month = '2026-10'
const stretch = monthBounds(month)!

const charge = fc.record({
  hour: fc.nat(30 * 24 - 1),
  nanos: fc.oneof(fc.nat(20), fc.nat(2_000_000_000)).map(BigInt),
  model: fc.constantFrom('words', 'film'),
  team: fc.option(fc.constantFrom('red', 'blue', 'Red')),
  job: fc.option(fc.nat(9).map(String)),
  user: fc.option(fc.constantFrom('alice', 'b,o=b')),
})
const steps = fc.array(charge, { minLength: 1, maxLength: 60 })

describe.each(storeKinds)('charges by tag on %s', (dialect) => {
  let place: Place
  let store: Store
  let accounts = 0

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const newAccount = async () => {
    const id = `acc_${accounts++}`
    await store.tx((tx) => insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 }))
    return id
  }

  const byTag = (accountId: string, tagKey: 'tag:team' | 'tag:job' | 'end_user') =>
    inSnapshot(store, (db) => sumTaggedUsage(db, { accountId, ...stretch, by: [], tagKey }))

  const expected = (entries: readonly Entry[], name: string) => {
    const sums = new Map<string | null, [number, bigint]>()
    for (const { tags, amountNanos } of entries) {
      const value = tagIn(tags, name)
      const key = value === undefined ? null : decodeURIComponent(value)
      const [count, sum] = sums.get(key) ?? [0, 0n]
      sums.set(key, [count + 1, sum - amountNanos])
    }
    return [...sums].map(([key, [count, sum]]) => [key, count, formatNanos(sum)]).toSorted()
  }

  test('by day tell as many values apart as a page of days has room for', async () => {
    const accountId = await newAccount()
    const teams = ['blue', 'cyan', 'gold', 'lime', 'pink', 'rose']
    for (let hour = 0; hour < 30 * 24; hour++) {
      const atMs = stretch.fromMs + hour * 3_600_000
      const call = { accountId, atMs, totalMs: 0, chargeNanos: 7n, costNanos: 2n }
      const charge = { unit: 'token', quantity: 1 }
      await Promise.all(
        teams.map((team) =>
          store.record(aRequest({ ...call, charge, tags: tagText([['team', team]])! })),
        ),
      )
    }
    const asked = { accountId, ...stretch, by: ['day'] as const, tagKey: 'tag:team' as const }
    const { total, rows } = await inSnapshot(store, (db) => sumTaggedUsage(db, asked))
    expect(total.amount).toBe(formatNanos(7n * 30n * 24n * 6n))
    expect(rows).toHaveLength(30 * teams.length)
    expect(new Set(rows.map(({ tag, amount }) => `${tag} ${amount}`))).toEqual(
      new Set(teams.map((team) => `${team} ${formatNanos(7n * 24n)}`)),
    )
    const months = await inSnapshot(store, (db) =>
      sumTaggedUsage(db, { ...asked, by: ['month'] as const }),
    )
    expect(months.rows).toHaveLength(teams.length)
  })

  test('add up to the bill', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const accountId = await newAccount()
        const entries: Entry[] = []
        for (const step of given) {
          const { hour, nanos, model, team, job, user } = step
          const pairs = Object.entries({ team, job }).filter((pair) => pair[1] !== null)
          const plain = tagText(pairs as [string, string][])
          const tags = user === null ? plain : withEndUser(plain, user)
          const entry: Entry = {
            atMs: stretch.fromMs + hour * 3_600_000,
            accountId,
            kind: 'charge',
            amountNanos: -nanos,
            ref: `req_${accountId}_${entries.length}`,
            model,
            unit: model === 'film' ? 'video_second' : 'token',
            quantity: 3,
            tokenId: 'tok_1',
            ...(tags !== undefined && { tags }),
          }
          await store.tx((tx) => appendEntry(tx, entry))
          entries.push(entry)
        }
        const bill = await makeBill(store.read, { accountId, account: 'a', month, currency: 'CNY' })
        for (const [key, name] of [
          ['tag:team', 'team'],
          ['tag:job', 'job'],
          ['end_user', '@'],
        ] as const) {
          const { rows, total } = await byTag(accountId, key)
          const shown = rows.map((row) => [
            row.tag ?? row.end_user ?? null,
            row.charges,
            row.amount,
          ])
          expect(shown.toSorted()).toEqual(expected(entries, name))
          expect(total.amount).toBe(bill.charges)
        }
      }),
      { numRuns: dialect === 'sqlite' ? 25 : 10 },
    )
  })
})
