// More names than totals keep: models, tags and end users that callers have chosen. Every sum adds up to
// the bill, every page is bounded, and the totals of hours and days agree with the ledger.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { maxTotalNames } from '../../contract/totals.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { inSnapshot, type Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { wrongDays, wrongHours } from '../../store/proof/audit-totals.ts'
import { sumDays, sumMoney } from '../../store/proof/totals.ts'
import { newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { makeBill } from '../bills/bill.ts'
import { sumHours } from '../proof/settled-hours.ts'
import { maxSums } from './bounded-sums.ts'
import { sumTaggedUsage } from './tagged-usage.ts'
import { sumUsage, type Usage, type UsageKey } from './usage-rows.ts'

const month = '2026-10'
const stretch = monthBounds(month)!
const hourMs = 3_600_000
const many = maxTotalNames + 120

describe.each(storeKinds)('more names than totals keep, on %s', (dialect) => {
  let place: Place
  let store: Store
  const accountId = 'acc_many'
  let chargedNanos = 0n

  const charge = (i: number) => ({
    atMs: stretch.fromMs + (i % 50) * hourMs + i,
    accountId,
    kind: 'charge' as const,
    amountNanos: -BigInt(i + 1),
    ref: `req_${i}`,
    model: `model-${i}`,
    unit: i % 3 === 0 ? 'image' : 'token',
    quantity: 1,
    tokenId: `tok_${i % 7}`,
    tags: `team=t${i},@=user${i}`,
  })

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    await store.tx((tx) =>
      insertAccount(tx, { id: accountId, name: 'many', source: 'api', createdAtMs: 1 }),
    )
    for (let from = 0; from < many; from += 400) {
      await store.tx(async (tx) => {
        for (let i = from; i < Math.min(many, from + 400); i++) {
          await appendEntry(tx, charge(i))
          chargedNanos += BigInt(i + 1)
        }
      })
    }
  }, 300_000)
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const sums: [string, typeof sumMoney][] = [
    ['hours', sumMoney],
    ['days', sumDays],
    ['kept hours', sumHours],
  ]
  const bySets: UsageKey[][] = [
    ['model'],
    ['hour', 'model'],
    ['day', 'model', 'token'],
    ['token', 'model', 'price', 'account'],
    ['month'],
    ['hour', 'unit', 'tier', 'model'],
  ]

  const addUp = ({ rows, total }: Usage) => {
    const nanos = rows.reduce((sum, { amount }) => sum + parseNanos(amount)!, 0n)
    expect(formatNanos(nanos)).toBe(formatNanos(chargedNanos))
    expect(total.amount).toBe(formatNanos(chargedNanos))
    expect(rows.reduce((sum, { charges }) => sum + charges, 0)).toBe(total.charges)
    expect(rows.length).toBeLessThanOrEqual(maxSums)
  }

  const check = async (hasCache = true) => {
    const of = { accountId, account: 'many', month, currency: 'CNY' }
    const bill = await inSnapshot(store, (db) => makeBill(db, of))
    expect(bill.charges).toBe(formatNanos(chargedNanos))
    const names = new Set(bill.totals.map(({ model }) => model))
    expect([names.size <= maxTotalNames + 1, names.has('other')]).toEqual([true, true])
    for (const rows of [bill.totals, bill.tokens]) {
      const nanos = rows.reduce((sum, { amount }) => sum + parseNanos(amount)!, 0n)
      expect(formatNanos(nanos)).toBe(bill.charges)
    }
    for (const [, sum] of sums) {
      for (const by of bySets) {
        if (sum === sumHours && !(hasCache && by.includes('hour'))) continue
        if (sum === sumDays && by.includes('hour')) continue
        for (const account of [accountId, undefined]) {
          addUp(await sumUsage(store.read, { accountId: account, ...stretch, by }, sum))
        }
      }
    }
    for (const tagKey of ['tag:team', 'end_user'] as const) {
      for (const by of [[], ['model'], ['hour', 'token']] as UsageKey[][]) {
        const asked = { accountId, ...stretch, by, tagKey }
        const usage = await inSnapshot(store, (db) => sumTaggedUsage(db, asked))
        addUp(usage)
        const shown = new Set(usage.rows.map((row) => row.tag ?? row.end_user))
        // Besides them, the others and the charges without one.
        expect([shown.size <= maxTotalNames + 2, shown.has('other')]).toEqual([true, true])
      }
    }
    const [own] = await sumMoney(store.read, { ...stretch, tokenId: 'tok_3', by: ['kind'] })
    expect(own!.entries).toBe(Array.from({ length: many }).filter((_, i) => i % 7 === 3).length)
  }

  test('add up, and the audit agrees', async () => {
    await check()
    const { rows } = await sql<{ count: number }>`
      SELECT count(DISTINCT model) AS count FROM hourly_totals`.execute(store.read)
    expect(rows[0]!.count).toBe(maxTotalNames + 1)
    const { rows: values } = await sql<{ name: string; count: number }>`
      SELECT name, count(DISTINCT value) AS count FROM tag_totals GROUP BY name`.execute(store.read)
    expect(values.map(({ count }) => count)).toEqual([maxTotalNames + 1, maxTotalNames + 1])
    await inSnapshot(store, async (db) => {
      expect(await wrongDays(db, undefined, 10)).toEqual([])
      expect(await wrongHours({ db, dialect }, {}, 10)).toEqual([])
    })
  }, 300_000)

  test('a known name keeps its own sum, and the next month begins anew', async () => {
    const next = { ...charge(many - 1), ref: 'req_next', atMs: stretch.untilMs + hourMs }
    await store.tx((tx) => appendEntry(tx, { ...charge(0), ref: 'req_again' }))
    await store.tx((tx) => appendEntry(tx, next))
    chargedNanos += 1n
    const { rows } = await sql<{ month: string; value: string }>`
      SELECT month, value FROM total_names WHERE name = '' AND month > ${month}`.execute(store.read)
    expect(rows).toEqual([{ month: '2026-11', value: next.model }])
    const sums = await sumMoney(store.read, { accountId, ...stretch, by: ['model'] })
    expect(sums.find(({ model }) => model === 'model-0')!.entries).toBe(2)
    await check()
  }, 300_000)

  test('a changed total is noticed, also in an hour with others', async () => {
    const noticed = store.tx(async (tx) => {
      await sql`UPDATE hourly_totals SET amount_nanos = amount_nanos - 1 WHERE model = '*'
        AND hour_ms = (SELECT min(hour_ms) FROM hourly_totals WHERE model = '*')`.execute(tx)
      const found = await wrongHours({ db: tx, dialect }, {}, 10)
      throw new Error(`found ${found.length > 0}`)
    })
    await expect(noticed).rejects.toThrow('found true')
  })

  test('an older database with more names has bounded pages all the same', async () => {
    await store.tx(async (tx) => {
      for (const table of ['hourly_totals', 'daily_totals']) {
        const hours = table === 'hourly_totals'
        const time = sql.raw(hours ? 'hour_ms' : 'day_ms')
        const bucket = sql.raw(hours ? ', input_bucket' : '')
        for (let from = 0; from < 4_000; from += 500) {
          const rows = Array.from({ length: 500 }, (_, k) => {
            const keys = sql`${accountId}, ${stretch.fromMs}, 'charge', 't', ${`old-${from + k}`}`
            return sql`(${keys}, 'token', '', 'p', 1, 0, 1, -1, 1, 1, 0, 0
              ${hours ? sql`, 0` : sql``})`
          })
          await sql`INSERT INTO ${sql.raw(table)} (account_id, ${time}, kind, token_id, model, unit,
            tier, price_id, entries, estimated, quantity, amount_nanos, input_tokens, output_tokens,
            cache_read_tokens, cache_write_tokens ${bucket}) VALUES ${sql.join(rows)}`.execute(tx)
        }
      }
    })
    chargedNanos += 4_000n
    // Settled days do not change otherwise.
    await check(false)
  }, 300_000)
})
