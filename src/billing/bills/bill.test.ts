// Bills against the ledger, to the nano-unit, while receipts are being written: a property over random
// bookings. And what a closed month does to the ones after it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Entry } from '../../contract/ledger.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { insertToken } from '../../store/catalog/tokens.ts'
import type { Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { sumUsage } from '../prices/usage-rows.ts'
import { type Bill, makeBill } from './bill.ts'
import { listMonths } from './months.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: bills against the ledger on PostgreSQL (set TEST_POSTGRES_URL)')
}

const months = ['2026-08', '2026-09', '2026-10']
const nowMs = Date.UTC(2026, 9, 31)

/** A moment, more often than not at the very edge of a month. */
const moments = fc
  .tuple(fc.constantFrom(...months), fc.constantFrom(0, 0.5, 1), fc.nat(3_600_000))
  .map(([month, place, ms]) => {
    const { fromMs, untilMs } = monthBounds(month)!
    return Math.min(Math.floor(fromMs + (untilMs - 1 - fromMs) * place) + (place < 1 ? ms : 0))
  })

const bookings = fc.record({
  kind: fc.constantFrom<Entry['kind']>('charge', 'charge', 'charge', 'credit', 'adjust', 'hold'),
  atMs: moments,
  nanos: fc.oneof(fc.nat(20), fc.nat(2_000_000_000)).map((n) => BigInt(n) + 1n),
  account: fc.nat(2),
  token: fc.nat(2),
  model: fc.constantFrom('film', 'words', 'picture'),
  quantity: fc.nat(5_000),
  estimated: fc.boolean(),
})
type Booked = typeof bookings extends fc.Arbitrary<infer T> ? T : never

const steps = fc.array(bookings, { minLength: 1, maxLength: 60 })

const units: Record<string, string> = { film: 'video_second', words: 'token', picture: 'image' }

function entryFrom(book: Booked, ref: string, accountId: string): Entry {
  const { kind, atMs, nanos } = book
  const amountNanos = kind === 'credit' ? nanos : -nanos
  if (kind !== 'charge') return { atMs, accountId, kind, amountNanos, ref }
  const { model, quantity, estimated } = book
  const unit = units[model]!
  const tokenId = `tok_${book.token}`
  return { atMs, accountId, kind, amountNanos, ref, model, unit, quantity, estimated, tokenId }
}

/** The bill as anybody would add it up from the entries. */
function expected(entries: readonly Entry[], month: string) {
  const of = (only: (entry: Entry) => boolean) =>
    entries.filter(only).reduce((sum, { amountNanos }) => sum + amountNanos, 0n)
  const inMonth = (entry: Entry) => monthAt(entry.atMs) === month
  const opening = of(({ atMs }) => monthAt(atMs) < month)
  const kind = (kind: string) => of((entry) => inMonth(entry) && entry.kind === kind)
  const charges = entries.filter((entry) => inMonth(entry) && entry.kind === 'charge')
  const by = (key: (entry: Entry) => string) => {
    const sums = new Map<string, [number, bigint]>()
    for (const entry of charges) {
      const [count, sum] = sums.get(key(entry)) ?? [0, 0n]
      sums.set(key(entry), [count + 1, sum - entry.amountNanos])
    }
    return [...sums].map(([name, [count, sum]]) => [name, count, formatNanos(sum)]).toSorted()
  }
  return {
    opening_balance: formatNanos(opening),
    credits: formatNanos(kind('credit')),
    adjustments: formatNanos(kind('adjust')),
    charges: formatNanos(-kind('charge')),
    closing_balance: formatNanos(opening + of(inMonth)),
    charge_count: charges.length,
    totals: by(({ model, unit }) => `${model} ${unit}`),
    tokens: by(({ tokenId }) => tokenId!),
    quantity: charges.reduce((sum, { quantity }) => sum + quantity!, 0),
    estimated: charges.filter(({ estimated }) => estimated).length,
  }
}

const summary = ({ totals, tokens, ...bill }: Bill) => ({
  opening_balance: bill.opening_balance,
  credits: bill.credits,
  adjustments: bill.adjustments,
  charges: bill.charges,
  closing_balance: bill.closing_balance,
  charge_count: bill.charge_count,
  totals: totals.map((t) => [`${t.model} ${t.unit}`, t.charges, t.amount]).toSorted(),
  tokens: tokens.map((t) => [t.token_id, t.charges, t.amount]).toSorted(),
  quantity: totals.reduce((sum, { quantity }) => sum + quantity, 0),
  estimated: totals.reduce((sum, { estimated }) => sum + estimated, 0),
})

describe.each([...storeKinds])('bills on %s', (dialect) => {
  let place: Place
  let store: Store
  let run = 0

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  async function newAccounts(): Promise<string[]> {
    run++
    const ids = [0, 1, 2].map((n) => `acc_${run}_${n}`)
    await store.tx(async (tx) => {
      for (const id of ids) {
        await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
      }
    })
    return ids
  }

  const billOf = (accountId: string, month: string) =>
    makeBill(store.read, { accountId, account: accountId, month, currency: 'CNY' })

  async function proveAll(accounts: readonly string[], booked: readonly Entry[]) {
    for (const accountId of accounts) {
      const entries = booked.filter((e) => e.accountId === accountId && e.kind !== 'hold')
      for (const month of months) {
        expect(summary(await billOf(accountId, month))).toEqual(expected(entries, month))
      }
      const owner = { id: accountId, name: accountId }
      const { items } = await listMonths(store.read, owner, { limit: 24, nowMs })
      for (const row of items) {
        const {
          totals: _,
          tokens: __,
          quantity: ___,
          estimated: ____,
          ...top
        } = expected(entries, row.month)
        expect(row).toMatchObject(top)
      }
      const active = new Set([...entries.map(({ atMs }) => monthAt(atMs)), '2026-10'])
      expect(items.map(({ month }) => month)).toEqual([...active].toSorted().reverse())
    }
  }

  test('equal the ledger to the nano-unit', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const accounts = await newAccounts()
        const booked: Entry[] = []
        for (const [index, step] of plan.entries()) {
          const entry = entryFrom(step, `${run}:${index}`, accounts[step.account]!)
          await store.tx((tx) => appendEntry(tx, entry))
          booked.push(entry)
        }
        await proveAll(accounts, booked)
      }),
      { numRuns: dialect === 'sqlite' ? 25 : 10 },
    )
  })

  test('are broken down by whatever is asked, and every way adds up to the same', async () => {
    const [accountId] = (await newAccounts()) as [string]
    const at = (day: number, hour: number) => Date.UTC(2026, 9, day, hour, 30)
    const token = { accountId, prefix: 'sk-', models: ['*'], limits: {}, allowedIps: [] }
    await store.tx(async (tx) => {
      const known = { ...token, disabled: false, source: 'api' as const, createdAtMs: 1 }
      await insertToken(tx, { ...known, id: `tok_a${run}`, name: 'ci', hash: `h${run}` })
      const lines: [number, string, string, bigint, string][] = [
        [at(1, 3), 'film', '720p', -7n, `tok_a${run}`],
        [at(1, 4), 'film', '1080p', -11n, `tok_a${run}`],
        [at(2, 3), 'words', '', -13n, 'tok_gone'],
      ]
      for (const [index, [atMs, model, tier, amountNanos, tokenId]] of lines.entries()) {
        const labels = { model, unit: units[model]!, quantity: 1.1, tokenId }
        const entry = { atMs, accountId, kind: 'charge' as const, amountNanos, ...labels }
        await appendEntry(tx, { ...entry, ref: `b${run}:${index}`, ...(tier !== '' && { tier }) })
      }
    })
    const stretch = { accountId, ...monthBounds('2026-10')! }
    const asked = (by: Parameters<typeof sumUsage>[1]['by']) =>
      sumUsage(store.read, { ...stretch, by })
    expect((await asked(['model', 'tier'])).rows).toMatchObject([
      { model: 'film', tier: '1080p', unit: 'video_second', quantity: 1.1, amount: '0.000000011' },
      { model: 'film', tier: '720p', amount: '0.000000007' },
      { model: 'words', tier: null, unit: 'token', amount: '0.000000013' },
    ])
    expect((await asked(['day'])).rows).toMatchObject([
      { day: '2026-10-01', charges: 2, quantity: 2.2, amount: '0.000000018' },
      { day: '2026-10-02', charges: 1, amount: '0.000000013' },
    ])
    expect((await asked(['hour'])).rows.map(({ hour }) => hour)).toEqual([
      '2026-10-01T03:00:00Z',
      '2026-10-01T04:00:00Z',
      '2026-10-02T03:00:00Z',
    ])
    expect((await asked(['token'])).rows).toMatchObject([
      { token_id: `tok_a${run}`, token: 'ci', charges: 2 },
      { token_id: 'tok_gone', token: null, charges: 1 },
    ])
    const { total } = await asked(['model', 'day', 'token', 'tier', 'price'])
    expect(total).toMatchObject({ charges: 3, amount: '0.000000031', unit: null, quantity: null })
    const own = await sumUsage(store.read, { ...stretch, by: ['month'], tokenId: 'tok_gone' })
    expect(own.rows).toMatchObject([{ month: '2026-10', charges: 1, amount: '0.000000013' }])
  })

  test('months are listed newest first, page by page, quiet ones left out', async () => {
    const [accountId] = (await newAccounts()) as [string]
    await store.tx(async (tx) => {
      for (const [index, month] of ['2025-01', '2026-03', '2026-09'].entries()) {
        const atMs = monthBounds(month)!.fromMs
        const entry = { atMs, accountId, kind: 'credit' as const, amountNanos: 10n }
        await appendEntry(tx, { ...entry, ref: `m${run}:${index}` })
      }
    })
    const seen: [string, string][] = []
    let cursor: string | undefined
    do {
      const query = { limit: 5, nowMs, cursor }
      const owner = { id: accountId, name: accountId }
      const page = await listMonths(store.read, owner, query)
      seen.push(...page.items.map((row): [string, string] => [row.month, row.closing_balance]))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual([
      ['2026-10', '0.00000003'],
      ['2026-09', '0.00000003'],
      ['2026-03', '0.00000002'],
      ['2025-01', '0.00000001'],
    ])
  })
})
