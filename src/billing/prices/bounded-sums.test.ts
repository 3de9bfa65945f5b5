import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { otherNames } from '../../contract/totals.ts'
import type { Store } from '../../store/index.ts'
import { dayMs } from '../../store/proof/grains.ts'
import { type MoneyQuery, type MoneySum, sumDays } from '../../store/proof/totals.ts'
import { newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { maxSums, sumBounded } from './bounded-sums.ts'

const firstMs = Date.UTC(2026, 8, 1)
const accounts = 200
const idOf = (i: number) => `acc_${String(i).padStart(4, '0')}`

describe.each(storeKinds)('sums of a page, on %s', (dialect) => {
  let place: Place
  let store: Store

  /** Of each account and day one sum; accounts with higher numbers were charged more. */
  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    await store.tx(async (tx) => {
      for (let day = 0; day < 60; day++) {
        const rows = Array.from({ length: accounts }, (_, i) => {
          const keys = sql`${idOf(i)}, ${firstMs + day * dayMs}, 'charge', 't', 'm', 'token', '', 'p'`
          return sql`(${keys}, 2, 1, 0, ${-1 - i}, 1, 1, 0, 0, 1, 0, 0)`
        })
        await sql`INSERT INTO daily_totals (account_id, day_ms, kind, token_id, model, unit, tier, price_id,
          quantity, entries, estimated, amount_nanos, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, cost_nanos, cost_unknown, refund_nanos) VALUES ${sql.join(rows)}`.execute(
          tx,
        )
      }
      const each = Array.from(
        { length: accounts },
        (_, i) => sql`(${idOf(i)}, ${idOf(i)}, 0, 0, 'api', 1)`,
      )
      await sql`INSERT INTO accounts (id, name, balance_nanos, held_nanos, source, created_at_ms)
        VALUES ${sql.join(each)}`.execute(tx)
    })
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  async function bounded(days: number) {
    const queries: MoneyQuery[] = []
    const sum: typeof sumDays = (db, query) => {
      queries.push(query)
      return sumDays(db, query)
    }
    const by = ['kind', 'unit', 'hour', 'account'] as const
    const asked = { fromMs: firstMs, untilMs: firstMs + days * dayMs, by }
    const found = await sumBounded(store.read, asked, sum, dayMs)
    return { found, all: await sumDays(store.read, asked), queries }
  }

  const totalOf = (sums: readonly MoneySum[]) => ({
    amount: sums.reduce((sum, { amountNanos }) => sum + amountNanos, 0n),
    cost: sums.reduce((sum, { costNanos }) => sum + costNanos, 0n),
    entries: sums.reduce((sum, { entries }) => sum + entries, 0),
  })

  test('what fits stays as it is', async () => {
    const { found, all } = await bounded(15)
    expect(found).toHaveLength(accounts * 15)
    expect(found).toEqual(all)
  })

  test('more is read once: the largest names are told apart, and the others are one', async () => {
    const { found, all, queries } = await bounded(60)
    expect(all).toHaveLength(accounts * 60)
    expect(queries).toHaveLength(1)
    expect(found.length).toBeLessThanOrEqual(maxSums)
    expect(totalOf(found)).toEqual(totalOf(all))
    const names = [...new Set(found.map(({ accountId }) => accountId!))].sort()
    expect(names).toEqual([otherNames, ...names.slice(1)])
    expect(names.slice(1)).toEqual(
      Array.from({ length: names.length - 1 }, (_, i) => idOf(accounts - names.length + 1 + i)),
    )
    expect(found.filter(({ hourMs }) => hourMs === firstMs)).toHaveLength(names.length)
  })

  test('of a month of days as many names are told apart as a page has room for', async () => {
    const { found, all } = await bounded(30)
    expect(totalOf(found)).toEqual(totalOf(all))
    const names = new Set(found.map(({ accountId }) => accountId!))
    expect(names.size).toBeGreaterThan(20)
    expect(found.length).toBeLessThanOrEqual(maxSums)
  })

  test('of more than are folded at once nothing is answered', async () => {
    const by = ['kind', 'hour', 'account'] as const
    const asked = { fromMs: firstMs, untilMs: firstMs + 60 * dayMs, by }
    const folded = { among: ['account'] as const, names: 3, above: 10, limit: accounts * 60 }
    expect(await sumDays(store.read, { ...asked, folded })).toHaveLength(60 * 4)
    const fewer = { ...folded, limit: accounts * 60 - 1 }
    expect(await sumDays(store.read, { ...asked, folded: fewer })).toEqual([])
  })
})
