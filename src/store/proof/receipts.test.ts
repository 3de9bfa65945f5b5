// Receipts and hours behind the ledger, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { receiptText } from '../../contract/bills/receipt.ts'
import type { Entry } from '../../contract/ledger.ts'
import type { CallCharge, RequestRecord } from '../../contract/requests.ts'
import { hashText } from '../../lib/crypto/signing.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { appendEntry } from '../ledger/entries.ts'
import { setMeta } from '../sql/meta.ts'
import { aRequest, charged, lcg, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { hourMs } from './grains.ts'
import { findLinks } from './receipt-lines.ts'
import { currencyOf } from './receipts.ts'
import { type MoneyDimension, sumMoney } from './totals.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: receipts on PostgreSQL (set TEST_POSTGRES_URL)')
}

const nowMs = Date.UTC(2026, 10, 15, 12, 30)
const accounts = ['acc_1', 'acc_2', 'acc_3']

async function addAccounts(store: Store): Promise<void> {
  await store.tx(async (tx) => {
    await setMeta(tx, 'currency', 'CNY')
    for (const id of accounts) {
      await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
    }
  })
}

/** The numbers of its receipts, once each is known to follow from its entry and the one before. */
async function checkChain(store: Store, accountId: string): Promise<number> {
  const links = await findLinks(store.read, accountId, { first: 1, last: 1_000_000 })
  const currency = await currencyOf(store.read)
  let previous = ''
  let balanceNanos = 0n
  for (const [i, link] of links.entries()) {
    balanceNanos += link.entry.amountNanos
    expect(link.number).toBe(i + 1)
    expect(link.balanceNanos).toBe(balanceNanos)
    expect(link.hash).toBe(hashText(receiptText(link, currency, previous)))
    previous = link.hash
  }
  return links.length
}

const credit = (accountId: string, ref: string, more: Partial<Entry> = {}): Entry => ({
  atMs: nowMs,
  accountId,
  kind: 'credit',
  amountNanos: 1_000_000n,
  ref,
  ...more,
})

describe.each([...storeKinds])('receipts on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    await addAccounts(store)
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const append = (entry: Entry) => store.tx((tx) => appendEntry(tx, entry))
  const charge = async (
    accountId: string,
    nanos: bigint,
    charge: CallCharge = {},
    logged: Partial<RequestRecord> = {},
  ) => {
    const usage = { inputTokens: 1_500, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 1 }
    const request = aRequest({ accountId, atMs: nowMs, usage })
    await store.record(charged({ ...request, ...logged }, nanos, charge))
    return request
  }

  test('what moved a balance is numbered and chained, account by account', async () => {
    await append(credit('acc_1', 'a', { note: 'first' }))
    await append(credit('acc_2', 'b'))
    await append(credit('acc_1', 'task_1', { kind: 'hold', amountNanos: -5n }))
    await append(credit('acc_1', 'task_1', { kind: 'release', amountNanos: 5n }))
    await charge('acc_1', 3n)
    await append(credit('acc_1', 'c', { kind: 'adjust', amountNanos: -7n }))
    expect(await checkChain(store, 'acc_1')).toBe(3)
    expect(await checkChain(store, 'acc_2')).toBe(1)
  })

  test('a chain goes on where it ended, whoever writes it and after whatever restart', async () => {
    for (let i = 0; i < 7; i++) await append(credit(accounts[i % 2]!, `a${i}`))
    await store.close()
    store = await place.open()
    const calls = Array.from({ length: 20 }, (_, i) => charge(accounts[i % 2]!, BigInt(i)))
    const credits = Array.from({ length: 10 }, (_, i) => append(credit('acc_1', `b${i}`)))
    await Promise.all([...calls, ...credits])
    expect(await checkChain(store, 'acc_1')).toBe(24)
    expect(await checkChain(store, 'acc_2')).toBe(13)
    for (const id of ['acc_1', 'acc_2']) {
      const links = await findLinks(store.read, id, { first: 1, last: 100 })
      const ids = links.map(({ entry }) => entry.id)
      expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    }
  })

  test('the hours know token, size and tokens of a charge', async () => {
    const request = await charge('acc_1', 30n)
    await charge('acc_1', 40n, { tier: 'up_to_32000', estimated: true })
    await append(credit('acc_1', 'opening', { atMs: nowMs + hourMs }))
    const fromMs = nowMs - (nowMs % hourMs)
    const by: MoneyDimension[] = ['account', 'hour', 'kind', 'token', 'model', 'unit', 'tier']
    const ask = () =>
      sumMoney(store.read, { fromMs, untilMs: fromMs + 2 * hourMs, by: [...by, 'price', 'bucket'] })
    const tokens = {
      inputTokens: 1_500,
      outputTokens: 7,
      cacheReadTokens: 100,
      cacheWriteTokens: 1,
    }
    const sum = {
      accountId: 'acc_1',
      hourMs: fromMs,
      kind: 'charge' as const,
      tokenId: 'tok_1',
      model: request.model,
      unit: 'token',
      priceId: 'price_1',
      inputBucket: 1_000,
      entries: 1,
      quantity: 30,
      ...tokens,
      costNanos: 0n,
      costUnknown: 1,
      refundNanos: 0n,
    }
    expect(await ask()).toEqual([
      { ...sum, tier: '', estimated: 0, amountNanos: -30n },
      { ...sum, tier: 'up_to_32000', estimated: 1, amountNanos: -40n },
      expect.objectContaining({
        hourMs: fromMs + hourMs,
        kind: 'credit',
        tokenId: '',
        model: '',
        inputBucket: 0,
        amountNanos: 1_000_000n,
      }),
    ])
  })

  test('sums are those of the ledger at any moment', async () => {
    const random = lcg(7)
    const dayMs = 24 * hourMs
    const fromMs = nowMs - (nowMs % dayMs)
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 12; i++) {
        const accountId = accounts[random(3)]!
        const atMs = fromMs - hourMs + random(26 * hourMs)
        const model = ['film', 'words', undefined][random(3)]
        const more = { atMs, ...(model !== undefined && { model }) }
        if (random(2) === 0) await append(credit(accountId, `r${round}-${i}`, more))
        else await charge(accountId, BigInt(random(1_000_000)), {}, more)
      }
      const untilMs = fromMs + dayMs
      for (const accountId of [undefined, 'acc_2']) {
        const sums = await sumMoney(store.read, {
          fromMs,
          untilMs,
          accountId,
          by: ['kind', 'model'],
        })
        const told = sums.map((s) => [s.kind, s.model, s.entries, s.amountNanos, s.quantity])
        expect(told).toEqual(await plainSums(store, { fromMs, untilMs, accountId }))
      }
    }
    for (const account of accounts) await checkChain(store, account)
  })
})

/** The same from the ledger itself, row by row. */
async function plainSums(
  store: Store,
  {
    fromMs,
    untilMs,
    accountId,
  }: { fromMs: number; untilMs: number; accountId: string | undefined },
) {
  const rows = await store.read.selectFrom('ledger').selectAll().execute()
  const sums = new Map<string, [string, string, number, bigint, number]>()
  for (const row of rows) {
    if (row.at_ms < fromMs || row.at_ms >= untilMs) continue
    if (accountId !== undefined && row.account_id !== accountId) continue
    const name = `${row.kind} ${row.model ?? ''}`
    const sum = sums.get(name) ?? [row.kind, row.model ?? '', 0, 0n, 0]
    sum[2]++
    sum[3] += row.amount_nanos
    sum[4] += row.quantity ?? 0
    sums.set(name, sum)
  }
  return [...sums.values()].sort((a, b) => (`${a[0]} ${a[1]}` < `${b[0]} ${b[1]}` ? -1 : 1))
}

if (storeKinds.includes('postgres')) {
  test('gateways that charge one account at once write one chain', async () => {
    const place = await newPlace('postgres')
    const stores = await Promise.all([place.open(), place.open(), place.open()])
    const [store] = stores
    await addAccounts(store!)
    const total = 300
    await Promise.all(
      Array.from({ length: total }, (_, i) => {
        const on = stores[i % 3]!
        const accountId = accounts[i % 2]!
        return i % 7 === 0
          ? on.tx((tx) => appendEntry(tx, credit(accountId, `c${i}`)), accountId)
          : on.record(charged(aRequest({ accountId, atMs: nowMs }), 3n))
      }),
    )
    const links = await Promise.all(['acc_1', 'acc_2'].map((id) => checkChain(store!, id)))
    expect(links).toEqual([150, 150])
    const whole = { fromMs: 0, untilMs: hourMs * 1_000_000, by: [] }
    expect(await sumMoney(store!.read, whole)).toMatchObject([{ entries: total }])
    for (const each of stores) await each.close()
    await place.remove()
  })
}
