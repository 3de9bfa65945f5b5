// What the store promises, on every engine there is.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { statusRange } from '../contract/traffic.ts'
import { newId } from '../lib/crypto/ids.ts'
import { findAccount, insertAccount } from './catalog/accounts.ts'
import { type Page, type Store, StoreRefused } from './index.ts'
import { appendEntry, findEntries, listEntries, sumEntries } from './ledger/entries.ts'
import { pageOfLog } from './log/pages.ts'
import { segmentRows } from './log/posting-list.ts'
import { findRequest, listRequests } from './log/requests.ts'
import { watermarkKey } from './log/watermark.ts'
import { getMeta, putMetaIfAbsent, setMeta } from './sql/meta.ts'
import {
  aRequest,
  charged,
  failureOf,
  newPlace,
  type Place,
  storeKinds,
  until,
} from './test-stores.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: store on PostgreSQL (set TEST_POSTGRES_URL)')
}

const credit = (amountNanos: bigint, ref: string): Entry => ({
  atMs: 1,
  accountId: 'acc_1',
  kind: 'credit',
  amountNanos,
  ref,
})

describe.each([...storeKinds])('the store on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 }),
    )
  })

  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const reopen = async () => {
    await store.close()
    store = await place.open()
  }

  test('keeps a thousand records and a balance equal to their sum', async () => {
    const requests = Array.from({ length: 1000 }, () => aRequest({ chargeNanos: 7n }))
    await Promise.all(requests.map((request) => store.record(charged(request, 7n))))
    await reopen()
    const { items } = await listRequests(store.read, { limit: 2000 })
    const ids = (all: RequestRecord[]) => all.map(({ requestId }) => requestId).sort()
    expect(ids(items)).toEqual(ids(requests))
    expect((await findAccount(store.read, 'acme'))?.balanceNanos).toBe(-7000n)
    expect(await sumEntries(store.read)).toEqual([
      { accountId: 'acc_1', entries: 1000, balanceNanos: -7000n, heldNanos: 0n },
    ])
  })

  test('returns a record as it was given', async () => {
    const full = aRequest({
      channel: 'main',
      upstreamRequestId: 'up_1',
      status: 502,
      errorCode: 'upstream_error',
      chargeNanos: 5n,
      priceId: 'price_1',
      usage: { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheWriteTokens: 0 },
      firstByteMs: 4,
      totalMs: 9,
      detail: {
        stream: true,
        ending: 'failed',
        attempts: [{ channel: 'main', afterMs: 1, ms: 9 }],
      },
    })
    const bare = aRequest()
    const call = charged(full, 5n, { quantity: 2.5, estimated: true, tier: 'up_to_9' })
    await Promise.all([store.record(call), store.record(bare)])
    // What it cost is not known.
    expect(await findRequest(store.read, full.requestId)).toEqual([{ ...full, costNanos: null }])
    expect(await findRequest(store.read, bare.requestId)).toEqual([bare])
    expect(await findEntries(store.read, full.requestId)).toEqual([
      {
        id: expect.any(Number),
        ...{ atMs: full.atMs + 9, accountId: 'acc_1', kind: 'charge', amountNanos: -5n },
        ...{ ref: full.requestId, tokenId: 'tok_1', model: 'txta-plus', priceId: 'price_1' },
        ...{ unit: 'token', quantity: 2.5, estimated: true, tier: 'up_to_9' },
      },
    ])
  })

  test('stores a record once, however often it is given', async () => {
    const request = aRequest()
    const call = charged(request, 10n)
    await Promise.all([store.record(call), store.record(call)])
    await store.record(call)
    expect((await listRequests(store.read, { limit: 10 })).items).toHaveLength(1)
    expect((await listEntries(store.read, 'acc_1', { limit: 10 })).items).toHaveLength(1)
    expect((await findAccount(store.read, 'acc_1'))?.balanceNanos).toBe(-10n)
  })

  test('books an entry once only, with its effect on balance and held amount', async () => {
    const hold: Entry = { ...credit(-30n, 'task_1'), kind: 'hold' }
    const release: Entry = { ...credit(30n, 'task_1'), kind: 'release' }
    const append = (entry: Entry) => store.tx((tx) => appendEntry(tx, entry))
    expect(await append(credit(100n, 'c_1'))).toBe(true)
    expect(await append(credit(100n, 'c_1'))).toBe(false)
    expect(await append(hold)).toBe(true)
    expect(await append(hold)).toBe(false)
    const during = { balanceNanos: 100n, heldNanos: 30n }
    expect(await findAccount(store.read, 'acc_1')).toMatchObject(during)
    expect(await append(release)).toBe(true)
    expect(await findAccount(store.read, 'acc_1')).toMatchObject({ heldNanos: 0n })
    expect(await sumEntries(store.read)).toEqual([
      { accountId: 'acc_1', entries: 3, balanceNanos: 100n, heldNanos: 0n },
    ])
  })

  test('refuses to change or delete an entry', async () => {
    await store.tx((tx) => appendEntry(tx, credit(100n, 'c_1')))
    const change = store.tx((tx) =>
      tx.updateTable('entries').set({ amount_nanos: 1n }).where('ref', '=', 'c_1').execute(),
    )
    expect(await failureOf(change)).toMatch('append-only')
    const deletion = store.tx((tx) => tx.deleteFrom('entries').where('ref', '=', 'c_1').execute())
    expect(await failureOf(deletion)).toMatch('append-only')
    expect((await findEntries(store.read, 'c_1'))[0]?.amountNanos).toBe(100n)
  })

  test('refuses to change or delete a call that was charged, and any other may go', async () => {
    const [paid, free] = [aRequest(), aRequest()]
    await Promise.all([store.record(charged(paid, 5n)), store.record(free)])
    const change = (set: object, { requestId }: RequestRecord) =>
      failureOf(
        store.tx((tx) =>
          tx.updateTable('requests').set(set).where('request_id', '=', requestId).execute(),
        ),
      )
    for (const set of [
      { charge_nanos: 1n },
      { model: 'x' },
      { number: null },
      { input_tokens: 1 },
    ]) {
      expect(await change(set, paid)).toMatch('append-only')
    }
    expect(await change({ number: 9 }, free)).toMatch('append-only')
    expect(await change({ detail: '', upstream_request_id: null }, paid)).toBe('it did not fail')
    const remove = ({ requestId }: RequestRecord) =>
      failureOf(
        store.tx((tx) => tx.deleteFrom('requests').where('request_id', '=', requestId).execute()),
      )
    expect(await remove(paid)).toMatch('append-only')
    expect(await remove(free)).toBe('it did not fail')
  })

  test('refuses an entry whose sign does not fit its kind', async () => {
    const wrong: Entry = { ...credit(5n, 'w_1'), kind: 'charge' }
    expect(await failureOf(store.tx((tx) => appendEntry(tx, wrong)))).toMatch(/constraint/i)
  })

  test('one bad record does not sink the others of its batch', async () => {
    const [good, bad, odd] = [aRequest(), aRequest(), aRequest({ model: 'a\0b' })]
    const outcomes = await Promise.allSettled([
      store.record(charged(good, 1n)),
      store.record(charged(bad, -1n)),
      store.record(odd),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(store.healthy).toBe(true)
    expect(await findRequest(store.read, good.requestId)).toHaveLength(1)
    expect(await findRequest(store.read, odd.requestId)).toHaveLength(1)
  })

  test('a transaction that throws leaves nothing behind and hands on its error', async () => {
    const failing = store.tx(async (tx) => {
      await appendEntry(tx, credit(100n, 'c_1'))
      throw new Error('changed my mind')
    })
    expect(await failureOf(failing)).toMatch('changed my mind')
    expect(await findEntries(store.read, 'c_1')).toEqual([])
    expect(await findAccount(store.read, 'acc_1')).toMatchObject({ balanceNanos: 0n })
    expect(store.healthy).toBe(true)
  })

  test('transactions and records wait for each other and all arrive', async () => {
    const work = Array.from({ length: 60 }, (_, i) => {
      if (i % 3 === 0) return store.tx((tx) => appendEntry(tx, credit(2n, `c_${i}`)))
      const request = aRequest()
      return store.record(charged(request, 1n))
    })
    await Promise.all(work)
    expect(await findAccount(store.read, 'acc_1')).toMatchObject({ balanceNanos: 0n })
    expect((await sumEntries(store.read))[0]?.entries).toBe(60)
  })

  test('an entry for an account that does not exist is not booked', async () => {
    const lost: Entry = { ...credit(5n, 'c_1'), accountId: 'acc_none' }
    expect(await failureOf(store.tx((tx) => appendEntry(tx, lost)))).toMatch('account that exists')
    expect(await findEntries(store.read, 'c_1')).toEqual([])
  })

  test('amounts beyond the exact numbers survive, and other integers are numbers', async () => {
    const huge = 2n ** 62n + 1n
    await store.tx((tx) => appendEntry(tx, credit(huge, 'c_1')))
    expect((await findEntries(store.read, 'c_1'))[0]).toMatchObject({ amountNanos: huge, atMs: 1 })
    expect(await findAccount(store.read, 'acc_1')).toMatchObject({ balanceNanos: huge })
    expect((await sumEntries(store.read))[0]).toMatchObject({ balanceNanos: huge, entries: 1 })
  })

  test('opens again without changing the schema, and keeps its values', async () => {
    const version = await getMeta(store.read, 'schema_version')
    expect(await store.tx((tx) => putMetaIfAbsent(tx, 'k', 'first'))).toBe('first')
    await reopen()
    expect(await getMeta(store.read, 'schema_version')).toBe(version)
    expect(await store.tx((tx) => putMetaIfAbsent(tx, 'k', 'second'))).toBe('first')
  })

  test('refuses a schema from a newer gateway', async () => {
    await store.tx((tx) => setMeta(tx, 'schema_version', '999'))
    await store.close()
    const again = place.open()
    expect(await again.catch((error) => error)).toBeInstanceOf(StoreRefused)
    expect(await failureOf(again)).toMatch('newer gateway')
  })

  test('finds requests by upstream id before and after they are indexed', async () => {
    const requests = Array.from({ length: 25 }, (_, i) =>
      aRequest({ upstreamRequestId: `up_${i % 20}` }),
    )
    for (const request of requests) await store.record(request)
    expect(await getMeta(store.read, watermarkKey)).toBeUndefined()
    const shared = [requests[3], requests[23]]
    expect(await findRequest(store.read, 'up_3')).toEqual(shared as RequestRecord[])

    // A segment is indexed when it is finished.
    await Promise.all(Array.from({ length: segmentRows }, () => store.record(aRequest())))
    await store.close()
    store = await place.open({ logIndexer: { quietMs: 10, settleMs: 50 } })
    await until(async () => (await getMeta(store.read, watermarkKey)) === String(segmentRows - 1))
    const indexed = await store.read.selectFrom('upstream_ids').selectAll().execute()
    expect(indexed).toHaveLength(25)
    expect(await findRequest(store.read, 'up_3')).toEqual(shared as RequestRecord[])

    // Drop the rows the index has taken over, so that only what lies behind it can answer.
    const late = aRequest({ upstreamRequestId: 'up_3' })
    await store.tx((tx) => tx.deleteFrom('upstream_ids').execute())
    await store.record(late)
    expect(await findRequest(store.read, 'up_3')).toEqual([late])
  })

  test('cursors page through everything once, newest first', async () => {
    for (let i = 0; i < 23; i++) {
      const request = aRequest({ model: i % 2 === 0 ? 'even' : 'odd' })
      await store.record(charged(request, 1n))
    }
    const seen = await collect((cursor) => listRequests(store.read, { limit: 5, cursor }))
    expect(seen.sizes).toEqual([5, 5, 5, 5, 3])
    const order = seen.items.map(({ atMs }) => atMs)
    expect(order).toEqual([...order].sort((a, b) => b - a))
    expect(new Set(seen.items.map(({ requestId }) => requestId)).size).toBe(23)
    const entries = await collect((cursor) =>
      listEntries(store.read, 'acc_1', { limit: 23, cursor }),
    )
    expect(entries.sizes).toEqual([23])
    const even = await listRequests(store.read, { limit: 50, model: 'even' })
    expect(even.items).toHaveLength(12)
    expect(await failureOf(listRequests(store.read, { limit: 5, cursor: 'no' }))).toMatch('cursor')
  })

  test('a page that was cut short at the end of the log has no next one', async () => {
    for (let i = 0; i < 9; i++) await store.record(aRequest({ model: 'few' }))
    const walk = { filter: { values: { model: 'few' } }, limit: 200, before: 2 ** 53 - 1 }
    // As on a busy machine: the time is up as soon as the first rows are there.
    const page = await pageOfLog(store.read, walk, -1)
    expect([page.rows.length, page.before]).toEqual([9, undefined])
  })

  test('filters requests by time, account, token, channel, status and error', async () => {
    const at = (atMs: number, more: Partial<RequestRecord> = {}) =>
      aRequest({ atMs, requestId: newId('req', atMs), ...more })
    const rows = [
      at(1_000, { accountId: 'acc_2', channel: 'main' }),
      at(2_000, { tokenId: 'tok_2', status: 502, errorCode: 'upstream_error' }),
      at(3_000),
    ]
    for (const row of rows) await store.record(row)
    const found = async (filter: object) =>
      (await listRequests(store.read, { limit: 10, ...filter })).items.map(({ atMs }) => atMs)
    expect(await found({ fromMs: 2_000 })).toEqual([3_000, 2_000])
    expect(await found({ toMs: 2_000 })).toEqual([1_000])
    expect(await found({ accountId: 'acc_2' })).toEqual([1_000])
    expect(await found({ channel: 'main' })).toEqual([1_000])
    expect(await found({ tokenId: 'tok_2' })).toEqual([2_000])
    expect(await found({ status: statusRange('502') })).toEqual([2_000])
    expect(await found({ errorCode: 'upstream_error' })).toEqual([2_000])
  })

  test('close waits for the records it has and takes no more', async () => {
    const request = aRequest()
    const queued = store.record(request)
    await store.close()
    await queued
    expect(await failureOf(store.record(aRequest()))).toMatch('closed')
    store = await place.open()
    expect(await findRequest(store.read, request.requestId)).toHaveLength(1)
  })
})

async function collect<T>(list: (cursor?: string) => Promise<Page<T>>) {
  const items: T[] = []
  const sizes: number[] = []
  let cursor: string | undefined
  do {
    const page = await list(cursor)
    items.push(...page.items)
    sizes.push(page.items.length)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { items, sizes }
}
