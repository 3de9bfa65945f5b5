// Sums of work against the sums of days: whichever totals a question is answered from, the same comes out, also
// for months that were written before they knew tokens.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { sumUsage } from '../../billing/prices/usage-rows.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { appendEntry } from '../ledger/entries.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { dayMs, hourMs } from './grains.ts'
import { sumDays } from './totals.ts'
import { sumWork } from './work-sums.ts'

const firstMs = Date.UTC(2026, 0, 1)
const days = 119
/** In the middle of February. */
const upgradeDay = 45

/** In the state before it: what the totals of work were made of. */
const schemaBefore = 88

const older = (day: number) => {
  const atMs = firstMs + day * dayMs
  const i = day % 3
  const sums = `${1 + day}, 1, 0, ${-100 - day}, 10, 20, 3, 4, ${day}, ${day % 2}`
  const of = `'model-${i}', 'token'`
  const month = Date.UTC(2026, new Date(atMs).getUTCMonth())
  const columns = `quantity, entries, estimated, amount_nanos, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, cost_nanos, cost_unknown, refund_nanos`
  const monthly = columns
    .split(/,\s*/)
    .map((name) => `${name} = monthly_totals.${name} + excluded.${name}`)
  const account = `'acc_${day % 2}'`
  return [
    ...[`'charge', 'tok_${i}', ${of}, '', 'price_${i}', ${sums}, 0`].flatMap((rest) => [
      `INSERT INTO hourly_totals (account_id, hour_ms, kind, token_id, model, unit, tier, price_id,
         ${columns}, input_bucket) VALUES (${account}, ${atMs}, ${rest}, 0)`,
      `INSERT INTO daily_totals (account_id, day_ms, kind, token_id, model, unit, tier, price_id, ${columns})
       VALUES (${account}, ${atMs}, ${rest})`,
    ]),
    `INSERT INTO channel_totals (day_ms, channel, model, unit, account_id, ${columns})
     VALUES (${atMs}, 'channel-${i}', ${of}, ${account}, ${sums}, 0)`,
    `INSERT INTO monthly_totals (month_ms, account_id, channel, model, unit, ${columns})
     VALUES (${month}, ${account}, 'channel-${i}', ${of}, ${sums}, 0)
     ON CONFLICT (month_ms, account_id, channel, model, unit) DO UPDATE SET ${monthly.join(', ')}`,
  ]
}

describe.each(storeKinds)('sums of work on %s', (dialect) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(dialect, { empty: true })
    const old = await place.open({ schema: schemaBefore })
    await old.tx(async (tx) => {
      for (const i of [0, 1, 2]) {
        const id = `acc_${i}`
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
      }
      for (let day = 0; day < upgradeDay; day++) {
        for (const statement of older(day)) await sql.raw(statement).execute(tx)
      }
    })
    await old.close()
    store = await place.open()
    for (let day = upgradeDay; day < days; day++) await work(day)
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  /** Three calls, one of them for free, and a refund. */
  async function work(day: number) {
    const atMs = firstMs + day * dayMs + (day % 24) * hourMs
    for (const i of [0, 1, 2]) {
      const named = { model: `model-${(day + i) % 4}`, tokenId: `tok_${(day * i) % 5}` }
      const of = { ...named, accountId: `acc_${i}`, channel: `channel-${(day + i) % 2}` }
      const call = aRequest({
        ...{ ...of, atMs, totalMs: 0, costNanos: BigInt(day + i) },
        ...{ priceId: `price_${i}`, chargeNanos: i === 0 ? 0n : BigInt(day * 7 + i) },
        ...(i > 0 && { charge: { unit: day % 5 === 0 ? 'image' : 'token', quantity: 2 } }),
        ...(i > 0 && day % 4 === 0 && { charge: { unit: 'token', quantity: 1, tier: 'hours=1' } }),
      })
      await store.record(call)
      if (i === 0) continue
      const refund = { kind: 'refund' as const, refundOf: call.requestId, amountNanos: BigInt(day) }
      const labels = { ...of, unit: 'token', priceId: `price_${i}` }
      const entry = { atMs: atMs + hourMs, ref: `rfd_${call.requestId}`, ...labels, ...refund }
      await store.tx((tx) => appendEntry(tx, entry))
    }
  }

  const keys = ['month', 'day', 'model', 'unit', 'token', 'tier', 'price', 'account'] as const
  const wholeDays = fc
    .tuple(fc.integer({ min: -20, max: days + 20 }), fc.integer({ min: 1, max: days + 30 }))
    .map(([from, length]) => ({
      fromMs: firstMs + from * dayMs,
      untilMs: firstMs + (from + length) * dayMs,
    }))
  const accountId = fc.constantFrom(undefined, undefined, 'acc_1')

  test('are those of days, over one account or all, by whatever is asked for', async () => {
    const hours = fc.record({ before: fc.nat(23), after: fc.nat(23) })
    const by = fc.subarray([...keys], { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(wholeDays, hours, by, accountId, async (span, { before, after }, by, id) => {
        const asked = {
          ...{ by, accountId: id, withCosts: true },
          ...{ fromMs: span.fromMs + before * hourMs, untilMs: span.untilMs + after * hourMs },
        }
        expect(await sumUsage(store.read, asked, sumWork)).toEqual(
          await sumUsage(store.read, asked, sumDays),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('are the same in sum by channel, and what no channel knows is refused', async () => {
    const by = fc.subarray(['month', 'day', 'model', 'unit', 'account'] as const)
    await fc.assert(
      fc.asyncProperty(wholeDays, by, accountId, async (span, by, accountId) => {
        const asked = { ...span, by, accountId, withCosts: true }
        const { total } = await sumUsage(store.read, { ...asked, by: ['channel', ...by] }, sumWork)
        expect(total).toEqual((await sumUsage(store.read, asked, sumDays)).total)
      }),
      { numRuns: 30 },
    )
    const asked = { fromMs: firstMs, untilMs: firstMs + dayMs }
    expect(sumWork(store.read, { ...asked, by: ['channel', 'token'] })).rejects.toThrow('tokens')
  })

  test('tell some accounts apart from all others, which are what is left', async () => {
    const names = fc.subarray(['acc_0', 'acc_1', 'acc_2'])
    const by = fc.subarray(['day', 'model', 'unit'] as const)
    await fc.assert(
      fc.asyncProperty(wholeDays, by, names, async (span, by, account) => {
        const asked = { ...span, by: ['account', 'month', ...by] as const, withCosts: true }
        const of =
          (sum: typeof sumDays): typeof sumDays =>
          (db, { folded: _, ...query }) =>
            sum(db, { ...query, kept: { account } })
        const found = await sumUsage(store.read, asked, of(sumWork))
        expect(found).toEqual(await sumUsage(store.read, asked, of(sumDays)))
        const shown = new Set(found.rows.map(({ account_id: id }) => id))
        expect([...shown].filter((id) => id !== 'other' && !account.includes(id!))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  if (dialect === 'postgres') {
    test('are added to by transactions that do not wait for each other', async () => {
      const day = {
        atMs: firstMs + days * dayMs,
        model: 'model-0',
        unit: 'token',
        channel: 'channel-0',
      }
      const charge = (i: number) => ({
        ...{ ...day, accountId: `acc_${i}`, kind: 'charge' as const },
        ...{ amountNanos: -1n, quantity: 1, ref: `task_${i}` },
      })
      await store.tx(async (first) => {
        expect(await appendEntry(first, charge(0))).toBe(true)
        expect(await store.tx((second) => appendEntry(second, charge(1)))).toBe(true)
        const { atMs, model, channel } = day
        const call = { accountId: 'acc_2', atMs, totalMs: 0, model, channel, chargeNanos: 1n }
        await store.record(aRequest({ ...call, charge: { unit: 'token', quantity: 1 } }))
      })
      const { rows } = await sql<{ entries: number }>`SELECT entries FROM overall_totals
        WHERE day_ms = ${day.atMs} AND model = 'model-0'`.execute(store.read)
      expect(rows.map(({ entries }) => entries)).toEqual([1, 1, 1])
    })
  }

  test('months from before the upgrade have no tokens, and later ones have them', async () => {
    const { rows } = await sql<{ month: number }>`SELECT DISTINCT month_ms AS month
      FROM monthly_totals WHERE token_id <> '' AND month_ms > ${Date.UTC(2026, 1)}`.execute(
      store.read,
    )
    expect(rows.map(({ month }) => month).sort()).toEqual([Date.UTC(2026, 2), Date.UTC(2026, 3)])
    const { rows: old } = await sql`SELECT 1 FROM monthly_totals
      WHERE token_id <> '' AND month_ms = ${firstMs}`.execute(store.read)
    expect(old).toEqual([])
  })
})
