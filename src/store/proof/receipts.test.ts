// Receipts and hours behind the ledger, on every engine there is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import pg from 'pg'
import { receiptText } from '../../contract/bills/receipt.ts'
import type { Entry } from '../../contract/ledger.ts'
import { hashText } from '../../lib/crypto/signing.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { appendEntry } from '../ledger/entries.ts'
import { setMeta } from '../sql/meta.ts'
import { aCharge, aRequest, lcg, newPlace, type Place, storeKinds, until } from '../test-stores.ts'
import { floorOf, hourMs, type MoneyDimension, sumMoney } from './hourly-totals.ts'
import { findLinks } from './receipt-lines.ts'
import type { Booked } from './receipt-pass.ts'
import { book, currencyOf, issueReceipts } from './receipts.ts'

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

/** All of it; answers how many entries each chunk had. */
async function issueAllReceipts(store: Store, limit = 512, inTx = false): Promise<number[]> {
  const sizes: number[] = []
  let pass: Booked['pass']
  do {
    const { dialect } = store
    const chunk = { limit, pass, patient: true, settleMs: 0 }
    const booked = inTx
      ? await store.tx((tx) => issueReceipts(tx, { ...chunk, dialect }))
      : await book(store, chunk)
    if (booked === 'busy') throw new Error('nobody else is there')
    sizes.push(booked.entries)
    pass = booked.pass
  } while (pass !== undefined)
  return sizes
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
  const charge = async (accountId: string, nanos: bigint, more: Partial<Entry> = {}) => {
    const usage = { inputTokens: 1_500, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 1 }
    const request = aRequest({ accountId, atMs: nowMs, usage })
    await store.record(request)
    // Not in the batch of its request, where SQLite would give it its receipt.
    await append({ ...aCharge(request, nanos), tokenId: 'tok_1', ...more })
    return request
  }

  test('what moved a balance is numbered and chained, account by account', async () => {
    await append(credit('acc_1', 'a', { note: 'first' }))
    await append(credit('acc_2', 'b'))
    await append(credit('acc_1', 'task_1', { kind: 'hold', amountNanos: -5n }))
    await append(credit('acc_1', 'task_1', { kind: 'release', amountNanos: 5n }))
    await charge('acc_1', 3n)
    await append(credit('acc_1', 'c', { kind: 'adjust', amountNanos: -7n }))
    expect(await issueAllReceipts(store)).toEqual([4])
    expect(await checkChain(store, 'acc_1')).toBe(3)
    expect(await checkChain(store, 'acc_2')).toBe(1)
    expect(await issueAllReceipts(store)).toEqual([0])
  })

  test('a chain goes on where it ended, in whatever chunks and after whatever crash', async () => {
    for (let i = 0; i < 7; i++) await append(credit(accounts[i % 2]!, `a${i}`))
    const first = await book(store, { limit: 3, settleMs: 0 })
    expect(first).toMatchObject({ entries: 3 })
    await store.close()
    store = await place.open()
    expect(await issueAllReceipts(store, 3)).toEqual([3, 1])
    for (let i = 0; i < 5; i++) await charge('acc_1', BigInt(i))
    // Both ways of booking are the same.
    expect(await issueAllReceipts(store, 2, true)).toEqual([2, 2, 1])
    expect(await checkChain(store, 'acc_1')).toBe(9)
    expect(await checkChain(store, 'acc_2')).toBe(3)
  })

  test('the hours know token, size and tokens of a charge, also where its entry does not', async () => {
    const request = await charge('acc_1', 30n, { tokenId: undefined as never })
    await charge('acc_1', 40n, { tier: 'up_to_32000', estimated: true })
    await append(credit('acc_1', 'opening', { atMs: nowMs + hourMs }))
    const fromMs = nowMs - (nowMs % hourMs)
    const by: MoneyDimension[] = ['account', 'hour', 'kind', 'token', 'model', 'unit', 'tier']
    const ask = () =>
      sumMoney(store.read, { fromMs, untilMs: fromMs + 2 * hourMs, by: [...by, 'price', 'bucket'] })
    const before = await ask()
    await issueAllReceipts(store)
    expect(await ask()).toEqual(before)
    const tokens = {
      inputTokens: 1_500,
      outputTokens: 7,
      cacheReadTokens: 100,
      cacheWriteTokens: 1,
    }
    const charged = {
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
    }
    expect(before).toEqual([
      { ...charged, tier: '', estimated: 0, amountNanos: -30n },
      { ...charged, tier: 'up_to_32000', estimated: 1, amountNanos: -40n },
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

  test('a charge whose request is no longer in the log has its receipt all the same', async () => {
    await charge('acc_1', 30n)
    await store.tx((tx) => tx.deleteFrom('requests').execute())
    await issueAllReceipts(store)
    expect(await checkChain(store, 'acc_1')).toBe(1)
    const fromMs = nowMs - (nowMs % hourMs)
    const sums = await sumMoney(store.read, { fromMs, untilMs: fromMs + hourMs, by: ['token'] })
    expect(sums).toMatchObject([{ tokenId: 'tok_1', amountNanos: -30n, inputTokens: 0 }])
  })

  test('sums are those of the ledger at any moment, booked or not', async () => {
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
        else await charge(accountId, BigInt(random(1_000_000)), more)
      }
      if (random(2) === 0) await book(store, { limit: 1 + random(30), settleMs: 0 })
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
    await issueAllReceipts(store, 10)
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
  const rows = await store.read.selectFrom('entries').selectAll().execute()
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
  describe('receipts of several gateways', () => {
    let place: Place
    let store: Store

    beforeEach(async () => {
      place = await newPlace('postgres')
      store = await place.open()
      await addAccounts(store)
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    const append = (ref: string) => store.tx((tx) => appendEntry(tx, credit('acc_1', ref)))

    test('an entry that is committed after younger ones is not forgotten', async () => {
      await append('before')
      const slow = new pg.Client({ connectionString: place.options.databaseUrl! })
      await slow.connect()
      const insert = (ref: string) =>
        slow.query(
          `INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, estimated)
           VALUES (1, 'acc_2', 'credit', 5, $1, 0)`,
          [ref],
        )
      await slow.query('BEGIN')
      await insert('slow')
      await append('younger')
      // However often it passes, it does not give up what it cannot see.
      for (let i = 0; i < 4; i++) await issueAllReceipts(store)
      expect(await checkChain(store, 'acc_1')).toBe(2)
      expect(await floorOf(store.read)).toBeLessThan(3)
      await slow.query('COMMIT')
      await slow.end()
      expect(await issueAllReceipts(store)).toEqual([1])
      expect(await checkChain(store, 'acc_2')).toBe(1)
      // A transaction of anybody on this server, in whatever database, can hold it up for a while.
      await until(async () => {
        await issueAllReceipts(store)
        return (await floorOf(store.read)) === 3
      })
    })

    test('a long way is not gone again from its beginning', async () => {
      const total = 120
      let written = 0
      // Transactions of others on this server can hold up what has settled: then once more.
      await until(async () => {
        const from = written
        for (let i = 0; i < total; i++) await append(`e${++written}`)
        const floors: number[] = []
        let pass: Booked['pass']
        do {
          const booked = await book(store, { limit: 2, pass, settleMs: 0 })
          if (booked === 'busy') throw new Error('nobody else is there')
          pass = booked.pass
          floors.push((await floorOf(store.read)) - from)
          // Time for transactions of others on this server to end.
          await Bun.sleep(10)
        } while (pass !== undefined)
        expect(await checkChain(store, 'acc_1')).toBe(written)
        // The first chunks can know of nothing that has settled; long before the end they do.
        return floors[0]! <= 0 && floors[50]! > 60 && floors.at(-1) === total
      })
    })

    test('three book at once, and each entry is booked once', async () => {
      const others = [await place.open(), await place.open()]
      const gateways = [store, ...others]
      const total = 300
      for (let i = 0; i < total; i++) await append(`e${i}`)
      const booked = await Promise.all(gateways.map((gateway) => issueAllReceipts(gateway, 7)))
      expect(booked.flat().reduce((sum, size) => sum + size, 0)).toBe(total)
      expect(await checkChain(store, 'acc_1')).toBe(total)
      const whole = { fromMs: 0, untilMs: hourMs * 1_000_000, by: [] }
      expect(await sumMoney(store.read, whole)).toMatchObject([
        { entries: total, amountNanos: BigInt(total) * 1_000_000n },
      ])
      for (const gateway of others) await gateway.close()
    })

    test('who is not patient leaves it to the one that is at it', async () => {
      await append('one')
      const other = await place.open()
      await store.tx(async (tx) => {
        await issueReceipts(tx, { dialect: 'postgres', limit: 10 })
        expect(await book(other, { limit: 10 })).toBe('busy')
      })
      await other.close()
      expect(await checkChain(store, 'acc_1')).toBe(1)
    })
  })
}
