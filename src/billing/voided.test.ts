// A call that was told as failed is free, whatever the store had done with its charge by then, and
// whatever it does with it later.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { RequestRecord } from '../contract/requests.ts'
import { findAccount, insertAccount } from '../store/catalog/accounts.ts'
import type { Store } from '../store/index.ts'
import { findEntries } from '../store/ledger/entries.ts'
import { findRequest } from '../store/log/requests.ts'
import { aRequest, charged, newPlace, type Place, until } from '../store/test-stores.ts'
import { availableNanos } from './balances.ts'
import { Ledger } from './ledger.ts'

const id = 'acc_1'
let place: Place
let store: Store
let ledger: Ledger

beforeEach(async () => {
  place = await newPlace('sqlite')
  store = await place.open()
  await store.tx((tx) => insertAccount(tx, { id, name: 'acme', source: 'api', createdAtMs: 1 }))
  ledger = await Ledger.open(store)
  await ledger.credit(id, 1_000n, { ref: 'c_1', atMs: 1 }).commit()
})
afterEach(async () => {
  ledger.close()
  await store.close()
  await place.remove()
})

const isLogged = (record: RequestRecord) =>
  until(async () => (await findRequest(store.read, record.requestId)).length > 0)
const balance = async () => (await findAccount(store.read, id))!.balanceNanos
const called = () => aRequest({ accountId: id, chargeNanos: 300n })

test('one that was never written is logged as failed, and its charge can no longer come', async () => {
  const record = called()
  ledger.voidCall(record)
  await isLogged(record)
  const [row] = await findRequest(store.read, record.requestId)
  expect(row).toMatchObject({ status: 503, chargeNanos: 0n, errorCode: 'overloaded' })
  await store.record(charged(record, 300n))
  expect(await balance()).toBe(1_000n)
  expect(await findEntries(store.read, record.requestId)).toHaveLength(1)
})

test('one that was written after all gets its charge back, once', async () => {
  const record = called()
  await ledger.settle(ledger.hold(id, 400n)!, 300n, record, {})
  expect(await balance()).toBe(700n)
  ledger.voidCall(record)
  ledger.voidCall(record)
  await until(async () => (await balance()) === 1_000n)
  const entries = await findEntries(store.read, record.requestId)
  expect(entries.map(({ kind, amountNanos }) => [kind, amountNanos])).toEqual([
    ['charge', -300n],
    ['credit', 300n],
  ])
  await until(() => availableNanos(ledger.funds(id)) === 1_000n)
})

const refund = (refundOf: string, amountNanos?: bigint) =>
  ledger
    .refund({ ref: 'rfd_1', refundOf, accountId: id, amountNanos, reason: 'sorry', atMs: 5 })
    .commit()

test('one that got its charge back has nothing to refund', async () => {
  const record = called()
  await ledger.settle(ledger.hold(id, 400n)!, 300n, record, {})
  ledger.voidCall(record)
  await until(async () => (await balance()) === 1_000n)
  expect(await refund(record.requestId)).toBe('nothing_to_refund')
  expect(await refund(record.requestId, 100n)).toBe('refund_exceeds_charge')
  expect(await balance()).toBe(1_000n)
})

test('one that was refunded in part gets the rest back', async () => {
  const record = called()
  await ledger.settle(ledger.hold(id, 400n)!, 300n, record, {})
  expect(await refund(record.requestId, 100n)).toMatchObject({ amountNanos: 100n })
  ledger.voidCall(record)
  await until(async () => (await balance()) === 1_000n)
  await until(() => availableNanos(ledger.funds(id)) === 1_000n)
})
