// Margins over any grouping against plain sums: charges less refunds less costs, to the nano-unit, however
// calls were charged, refunded, free or of unknown cost. A property over random books.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { tagText } from '../../contract/tags/index.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { inSnapshot, type Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { dayMs, hourMs } from '../../store/proof/grains.ts'
import { sumDays } from '../../store/proof/totals.ts'
import { sumWork } from '../../store/proof/work-sums.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { sumTaggedUsage } from './tagged-usage.ts'
import { manyKeys, sumUsage, type UsageRow } from './usage-rows.ts'

const stretch = monthBounds('2026-10')!

const work = fc.record({
  minute: fc.nat(30 * 24 * 60 - 1),
  nanos: fc.nat(2_000_000_000).map(BigInt),
  cost: fc.option(fc.nat(2_000_000_000).map(BigInt)),
  isCharged: fc.boolean(),
  refunded: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  model: fc.constantFrom('words', 'more-words'),
  token: fc.constantFrom('tok_1', 'tok_2'),
  team: fc.option(fc.constantFrom('red', 'blue')),
  channel: fc.constantFrom('one', 'two'),
})
const books = fc.array(work, { minLength: 1, maxLength: 30 })
const groupings = fc.uniqueArray(fc.constantFrom(...manyKeys.filter((key) => key !== 'channel')), {
  maxLength: 4,
})
const ofChannels = fc.subarray(['channel', 'day', 'month', 'model', 'unit', 'account'] as const)

const sumOf = (rows: readonly UsageRow[], name: 'margin' | 'cost'): bigint =>
  rows.reduce((sum, row) => sum + signed(row[name]!), 0n)
const signed = (text: string): bigint =>
  text.startsWith('-') ? -parseNanos(text.slice(1))! : parseNanos(text)!

describe.each(storeKinds)('margins on %s', (dialect) => {
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

  test('add up over any grouping', async () => {
    await fc.assert(
      fc.asyncProperty(books, groupings, ofChannels, async (given, by, byChannel) => {
        const accountId = `acc_${accounts++}`
        await store.tx((tx) =>
          insertAccount(tx, { id: accountId, name: accountId, source: 'api', createdAtMs: 1 }),
        )
        let [costNanos, marginNanos, unknown] = [0n, 0n, 0]
        const ofChannel = { one: 0n, two: 0n }
        const ofTeam: Record<string, bigint> = {}
        for (const { minute, nanos, cost, isCharged, refunded, ...named } of given) {
          const { model, token, team, channel } = named
          const atMs = stretch.fromMs + minute * 60_000
          const tags = team === null ? undefined : tagText([['team', team]])
          const call = aRequest({
            accountId,
            ...{ atMs, totalMs: 0, model, tokenId: token, channel, costNanos: cost },
            ...(tags !== undefined && { tags }),
            chargeNanos: isCharged ? nanos : 0n,
            ...(isCharged && { charge: { unit: 'token', quantity: 1 } }),
          })
          await store.record(call)
          const back = isCharged ? BigInt(Math.floor(Number(nanos) * (refunded ?? 0))) : 0n
          if (back > 0n) {
            const labels = { unit: 'token', model, tokenId: token, channel, ...(tags && { tags }) }
            const refund = { kind: 'refund' as const, refundOf: call.requestId, amountNanos: back }
            const entry = { accountId, atMs, ref: `rfd_${call.requestId}`, ...labels, ...refund }
            await store.tx((tx) => appendEntry(tx, entry))
          }
          costNanos += cost ?? 0n
          marginNanos += call.chargeNanos - back - (cost ?? 0n)
          ofChannel[channel] += call.chargeNanos - back - (cost ?? 0n)
          ofTeam[`${team}`] = (ofTeam[`${team}`] ?? 0n) + call.chargeNanos - back - (cost ?? 0n)
          if (isCharged && cost === null) unknown++
        }
        const asked = { accountId, ...stretch, by, withCosts: true }
        const expected = { cost: formatNanos(costNanos), margin: formatNanos(marginNanos) }
        const isTagged = !by.some((key) => key === 'tier' || key === 'price')
        const found = [
          await sumUsage(store.read, asked),
          await sumUsage(store.read, { ...asked, by: byChannel }, sumWork),
          ...(isTagged
            ? [
                await inSnapshot(store, (db) =>
                  sumTaggedUsage(db, { ...asked, tagKey: 'tag:team' }),
                ),
              ]
            : []),
        ]
        for (const { total, rows } of found) {
          expect(total).toMatchObject({ ...expected, cost_unknown: unknown })
          expect([sumOf(rows, 'cost'), sumOf(rows, 'margin')]).toEqual([costNanos, marginNanos])
        }
        const tagged = { ...asked, by: [], tagKey: 'tag:team' as const }
        const teams = await inSnapshot(store, (db) => sumTaggedUsage(db, tagged))
        for (const { tag, margin } of teams.rows) expect(signed(margin!)).toBe(ofTeam[`${tag}`]!)
        const { rows } = await sumUsage(store.read, { ...asked, by: ['channel'] }, sumWork)
        for (const { channel, margin } of rows) {
          expect(signed(margin!)).toBe(ofChannel[channel as 'one' | 'two'])
        }
      }),
      { numRuns: dialect === 'sqlite' ? 25 : 10 },
    )
  })

  test('by channel are those of the days that are asked for, wherever they begin and end in a month', async () => {
    const accountId = `acc_${accounts++}`
    await store.tx((tx) =>
      insertAccount(tx, { id: accountId, name: accountId, source: 'api', createdAtMs: 1 }),
    )
    const [first, last] = [monthBounds('2027-01')!.fromMs, monthBounds('2027-04')!.fromMs]
    for (let atMs = first; atMs < last; atMs += dayMs) {
      const day = (atMs - first) / dayMs
      await store.record(
        aRequest({
          ...{
            accountId,
            atMs,
            totalMs: 0,
            model: `model-${day % 3}`,
            channel: `channel-${day % 2}`,
          },
          ...{ costNanos: BigInt(day), chargeNanos: BigInt(day * day) },
          charge: { unit: day % 5 === 0 ? 'image' : 'token', quantity: 0.1 },
        }),
      )
    }
    const days = fc.integer({ min: -20, max: 100 }).map((day) => first + day * dayMs)
    const stretches = fc.tuple(days, days).filter(([from, until]) => from < until)
    const hours = fc.record({ before: fc.nat(23), after: fc.nat(23) })
    const ofDays = fc.subarray(['month', 'model', 'unit', 'account'] as const)
    await fc.assert(
      fc.asyncProperty(stretches, hours, ofDays, async ([from, until], { before, after }, by) => {
        const whole = { accountId, fromMs: from, untilMs: until, by, withCosts: true }
        const channels = await sumUsage(store.read, { ...whole, by: ['channel'] }, sumWork)
        expect(channels.total).toEqual(
          (await sumUsage(store.read, { ...whole, by: [] }, sumDays)).total,
        )
        const asked = { ...whole, fromMs: from + before * hourMs, untilMs: until + after * hourMs }
        expect(await sumUsage(store.read, asked, sumWork)).toEqual(
          await sumUsage(store.read, asked, sumDays),
        )
      }),
      { numRuns: 40 },
    )
  })
})
