// A write that fails leaves its outcome open: the account takes no new holds until the store has
// been asked, and is exact from then on.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '../lib/crypto/ids.ts'
import { findAccount, insertAccount } from '../store/catalog/accounts.ts'
import { Rollback, type Store } from '../store/index.ts'
import { findEntries } from '../store/ledger/entries.ts'
import { listLosses } from '../store/ledger/losses.ts'
import { aRequest, failureOf, newPlace, type Place, until } from '../store/test-stores.ts'
import { availableNanos } from './balances.ts'
import { lossNanos } from './call-loss.ts'
import { Ledger } from './ledger.ts'

const labels = { model: 'txta-plus', unit: 'token', quantity: 3, priceId: 'price_1' }

/** `refuse` writes nothing; `lose` writes and then says that it failed. */
type Fault = 'none' | 'refuse' | 'lose'

interface Faulty extends Store {
  read: Store['read']
  fault: Fault
  sick: boolean
}

function faulty(store: Store): Faulty {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    const { fault } = made
    if (fault === 'refuse') throw new Error('the disk said no')
    const result = await work()
    if (fault === 'lose') throw new Error('the answer was lost')
    return result
  }
  const made: Faulty = {
    dialect: store.dialect,
    clock: store.clock,
    read: store.read,
    tx: (work) => guarded(() => store.tx(work)),
    record: (call) => guarded(() => store.record(call)),
    snapshot: () => store.snapshot(),
    close: () => store.close(),
    get healthy() {
      return store.healthy && !made.sick
    },
    fault: 'none',
    sick: false,
  }
  return made
}

let place: Place
let store: Faulty
let ledger: Ledger
const id = 'acc_1'

beforeEach(async () => {
  place = await newPlace('sqlite')
  store = faulty(await place.open())
  await store.tx((tx) => insertAccount(tx, { id, name: 'acme', source: 'api', createdAtMs: 1 }))
  ledger = await Ledger.open(store)
  await ledger.credit(id, 1_000n, { ref: 'c_1', atMs: 1 }).commit()
})

afterEach(async () => {
  await store.close()
  await place.remove()
})

const spendable = () => availableNanos(ledger.funds(id)!)
const stored = async () => {
  const account = await findAccount(store.read, id)
  return account!.balanceNanos - account!.heldNanos
}

type Attempt = [name: string, nanosIfStored: bigint, attempt: () => Promise<unknown>]

const attempts: Attempt[] = [
  [
    'a charge',
    -300n,
    () => ledger.settle(ledger.hold(id, 400n)!, 300n, aRequest({ accountId: id }), labels),
  ],
  ['a credit', 70n, () => ledger.credit(id, 70n, { ref: 'c_2', atMs: 1 }).commit()],
  ['a credit taken back', -70n, () => ledger.credit(id, -70n, { ref: 'c_3', atMs: 1 }).commit()],
  ['a hold of a task', -200n, () => ledger.taskHold('video_1', id, 200n, 1).commit()],
]

/** Writes that take 800 of 1,000. */
const openOutcomes: Attempt[] = [
  [
    'a charge',
    800n,
    () => ledger.settle(ledger.hold(id, 800n)!, 800n, aRequest({ accountId: id }), labels),
  ],
  ['a credit taken back', 800n, () => ledger.credit(id, -800n, { ref: 'c_3', atMs: 1 }).commit()],
  ['a hold of a task', 800n, () => ledger.taskHold('video_2', id, 800n, 1).commit()],
]

describe.each<Fault>(['refuse', 'lose'])('when the store is told to %s,', (fault) => {
  test.each(attempts)(
    '%s leaves the account shut until it is exact again',
    async (_, nanos, run) => {
      store.sick = true
      store.fault = fault
      expect(await failureOf(run())).toMatch(fault === 'refuse' ? 'said no' : 'was lost')
      expect(ledger.usable(id)).toBe(false)
      expect(ledger.hold(id, 1n)).toBeUndefined()
      store.fault = 'none'
      store.sick = false
      await until(() => ledger.usable(id))
      const wanted = 1_000n + (fault === 'lose' ? nanos : 0n)
      expect(await stored()).toBe(wanted)
      expect(spendable()).toBe(wanted)
      expect(ledger.funds(id)?.callHoldsNanos).toBe(0n)
    },
  )

  test('the end of a task leaves the account shut, and can be tried again', async () => {
    await ledger.taskHold('video_1', id, 200n, 1).commit()
    const charge = { taskId: 'video_1', chargeNanos: 150n, ...labels }
    const end = () => ledger.taskEnd(id, { taskId: 'video_1', atMs: 1 }, charge).commit()
    store.fault = fault
    expect(await failureOf(end())).not.toBe('it did not fail')
    expect(ledger.usable(id)).toBe(false)
    expect(spendable() <= (await stored())).toBe(true)
    store.fault = 'none'
    await until(() => ledger.usable(id))
    expect(spendable()).toBe(fault === 'lose' ? 850n : 800n)
    expect((await end()) !== undefined).toBe(fault === 'refuse')
    expect([spendable(), await stored()]).toEqual([850n, 850n])
    expect(await findEntries(store.read, 'video_1')).toHaveLength(3)
  })

  test('what the end of a task takes beyond its hold is taken until the store has been asked', async () => {
    await ledger.taskHold('video_1', id, 50n, 1).commit()
    const { tx } = store
    // The first transaction finds that the hold is too small, the second one books.
    let transactions = 0
    store.tx = (work) => {
      store.fault = ++transactions === 2 ? fault : 'none'
      return tx(work)
    }
    const charge = { taskId: 'video_1', chargeNanos: 650n, ...labels }
    const end = ledger.taskEnd(id, { taskId: 'video_1', atMs: 1 }, charge).commit()
    expect(await failureOf(end)).not.toBe('it did not fail')
    expect([transactions, spendable()]).toEqual([2, 350n])
    store.fault = 'none'
    await until(() => ledger.usable(id))
    const left = fault === 'lose' ? 350n : 950n
    expect([spendable(), await stored()]).toEqual([left, left])
  })

  describe.each(openOutcomes)('%s may have been stored:', (_, takenNanos, take) => {
    const left = 1_000n - (fault === 'lose' ? takenNanos : 0n)
    // More than is left if it was stored, less if it was not.
    const costNanos = 500n
    const paid = left < costNanos ? left : costNanos

    test('a call that costs more than its hold pays what is left, and no more', async () => {
      const hold = ledger.hold(id, 50n)!
      store.fault = fault
      expect(await failureOf(take())).not.toBe('it did not fail')
      store.fault = 'none'
      const record = aRequest({ accountId: id })
      expect(await ledger.settle(hold, costNanos, record, labels)).toBe('charged')
      expect([record.chargeNanos, lossNanos(record.detail)]).toEqual([paid, costNanos - paid])
      expect([spendable(), await stored()]).toEqual([left - paid, left - paid])
    })

    test('a task that costs more than its hold pays what is left, and no more', async () => {
      await ledger.taskHold('video_1', id, 50n, 1).commit()
      store.fault = fault
      expect(await failureOf(take())).not.toBe('it did not fail')
      store.fault = 'none'
      const charge = { taskId: 'video_1', chargeNanos: costNanos, ...labels }
      const booked = await ledger.taskEnd(id, { taskId: 'video_1', atMs: 1 }, charge).commit()
      expect(booked).toMatchObject({ chargeNanos: paid, shortNanos: costNanos - paid })
      expect([spendable(), await stored()]).toEqual([left - paid, left - paid])
    })
  })

  test('calls that are on their way keep their holds and are settled exactly', async () => {
    const [first, second, third] = [400n, 100n, 50n].map((nanos) => ledger.hold(id, nanos)!)
    store.fault = fault
    const request = () => aRequest({ accountId: id })
    const lost = failureOf(ledger.settle(first!, 300n, request(), labels))
    expect(await lost).not.toBe('it did not fail')
    store.fault = 'none'
    await ledger.settle(second!, 80n, request(), labels)
    await until(() => ledger.usable(id))
    const balance = 1_000n - 80n - (fault === 'lose' ? 300n : 0n)
    expect(ledger.funds(id)).toMatchObject({ balanceNanos: balance, callHoldsNanos: 50n })
    ledger.release(third!)
    expect([spendable(), await stored()]).toEqual([balance, balance])
  })
})

test('what an account cannot say for a while it does not say, be it enough or too little', async () => {
  store.sick = true
  store.fault = 'lose'
  await failureOf(ledger.taskHold('video_1', id, 200n, 1).commit())
  store.fault = 'none'
  const beyond = [
    ledger.credit(id, -1n, { ref: 'c_9', atMs: 1 }).commit(),
    ledger.taskHold('video_9', id, 1n, 1).commit(),
    Promise.resolve(ledger.reserve(id, 1n)),
  ]
  const said = Promise.all(beyond.map(failureOf))
  expect(new Set(await said)).toEqual(new Set(['the last write has an open outcome']))
  const later = [ledger.reserve(id, 800n), ledger.reserve(id, 1n)]
  store.sick = false
  const [all, more] = await Promise.all(later)
  expect([all?.amountNanos, more]).toEqual([800n, undefined])
  ledger.release(all!)
  expect([spendable(), await stored()]).toEqual([800n, 800n])
})

test('a balance is not read again as it was before the last records', async () => {
  const { read } = store
  const old = await store.snapshot()
  await ledger.settle(ledger.hold(id, 400n)!, 300n, aRequest({ accountId: id }), labels)
  // A read may see an earlier moment: it does not wait for records that cannot be applied.
  store.read = old.db
  store.fault = 'refuse'
  await failureOf(ledger.taskHold('video_1', id, 200n, 1).commit())
  store.fault = 'none'
  await until(() => ledger.usable(id))
  expect(spendable()).toBe(700n)
  store.read = read
  await old.end()
})

test('other accounts are not shut', async () => {
  const other = newId('acc')
  await store.tx((tx) => insertAccount(tx, { id: other, name: 'b', source: 'api', createdAtMs: 1 }))
  ledger.add({ id: other, balanceNanos: 0n, heldNanos: 0n })
  await ledger.credit(other, 10n, { ref: 'c_2', atMs: 1 }).commit()
  store.fault = 'refuse'
  store.sick = true
  const settling = ledger.settle(ledger.hold(id, 1n)!, 1n, aRequest({ accountId: id }), labels)
  expect(await failureOf(settling)).toMatch('said no')
  expect([ledger.usable(id), ledger.usable(other)]).toEqual([false, true])
  expect(ledger.hold(other, 10n)).toBeDefined()
  store.sick = false
  store.fault = 'none'
  await until(() => ledger.usable(id))
})

test('many failures and successes at once end exactly', async () => {
  const settling = Array.from({ length: 60 }, (_, i) => {
    store.fault = (['none', 'refuse', 'lose', 'none'] as const)[i % 4]!
    const hold = ledger.hold(id, 9n)!
    return ledger.settle(hold, 5n, aRequest({ accountId: id }), labels)
  })
  store.fault = 'none'
  const outcomes = await Promise.allSettled(settling)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(30)
  await until(() => ledger.usable(id))
  // A quarter of them were refused; the others were written, told or not.
  expect([spendable(), await stored()]).toEqual([775n, 775n])
  expect(ledger.funds(id)).toMatchObject({ callHoldsNanos: 0n, pending: 0 })
})

test('a store closed underneath shuts the account; opened again, everything is exact', async () => {
  const request = aRequest({ accountId: id })
  await ledger.settle(ledger.hold(id, 400n)!, 300n, request, labels)
  const hold = ledger.hold(id, 400n)!
  await store.close()
  const late = ledger.settle(hold, 200n, aRequest({ accountId: id }), labels)
  expect(await failureOf(late)).toMatch('closed')
  expect(ledger.usable(id)).toBe(false)
  expect(ledger.hold(id, 1n)).toBeUndefined()
  store = faulty(await place.open())
  ledger = await Ledger.open(store)
  expect(ledger.usable(id)).toBe(true)
  expect([spendable(), await stored()]).toEqual([700n, 700n])
  expect(await findEntries(store.read, request.requestId)).toHaveLength(1)
})

test('an account nobody knows can hold nothing', () => {
  expect(ledger.usable('acc_none')).toBe(false)
  expect(ledger.hold('acc_none', 0n)).toBeUndefined()
})

test('what cannot be charged is an error before anything is written', async () => {
  const hold = ledger.hold(id, 10n)!
  const record = aRequest({ accountId: id })
  expect(await failureOf(ledger.settle(hold, -1n, record, labels))).toMatch('never negative')
  expect(hold.open).toBe(true)
  ledger.release(hold)
  await ledger.taskHold('video_1', id, 20n, 1).commit()
  const negative = { taskId: 'video_1', chargeNanos: -1n, ...labels }
  const ending = ledger.taskEnd(id, { taskId: 'video_1', atMs: 1 }, negative).commit()
  expect(await failureOf(ending)).toMatch('never negative')
  await until(() => ledger.usable(id))
  expect([spendable(), await stored()]).toEqual([980n, 980n])
})

test('a task that costs more than it holds leaves alone what calls hold', async () => {
  const hold = ledger.hold(id, 900n)!
  await ledger.taskHold('video_1', id, 20n, 1).commit()
  const charge = { taskId: 'video_1', chargeNanos: 150n, ...labels }
  const booked = await ledger.taskEnd(id, { taskId: 'video_1', atMs: 1 }, charge).commit()
  expect(booked).toEqual({ chargeNanos: 100n, shortNanos: 50n, isWithheld: false })
  expect([spendable(), await stored()]).toEqual([0n, 900n])
  ledger.release(hold)
})

test('a transaction that is rolled back books nothing and leaves the account open', async () => {
  const hold = ledger.taskHold('video_1', id, 200n, 1)
  const result = await hold.commit(() =>
    store.tx(async (tx) => {
      expect(await hold.write(tx)).toBe('done')
      throw new Rollback('not wanted')
    }),
  )
  expect(result as string).toBe('not wanted')
  expect(ledger.usable(id)).toBe(true)
  expect([spendable(), await stored()]).toEqual([1_000n, 1_000n])
  expect(await findEntries(store.read, 'video_1')).toEqual([])
})

const settleBeyond = () =>
  ledger.settle(ledger.hold(id, 0n)!, 5_000n, aRequest({ accountId: id }), labels)
const claim = async () =>
  (await store.read.selectFrom('accounts').select('short_ref').executeTakeFirst())?.short_ref

test('a kill between the claim of an answer beyond the balance and its charge leaves no claim', async () => {
  store.record = () => new Promise<void>(() => {})
  void settleBeyond()
  await until(async () => (await claim()) !== null)
  await store.close()
  store = faulty(await place.open())
  ledger = await Ledger.open(store)
  expect(await claim()).toBeNull()
  expect(await settleBeyond()).toBe('charged')
  ledger = await Ledger.open(store)
  expect(await settleBeyond()).toBe('already_short')
})

test('an answer beyond the balance whose charge was not written leaves no claim', async () => {
  const record = aRequest({ accountId: id })
  const { record: write } = store
  store.record = () => Promise.reject(new Error('the disk said no'))
  const settled = ledger.settle(ledger.hold(id, 0n)!, 5_000n, record, labels)
  expect(await failureOf(settled)).toMatch('said no')
  expect(await claim()).toBe(record.requestId)
  store.record = write
  await ledger.voidCall(record)
  await until(async () => (await claim()) === null)
  const { items } = await listLosses(store.read, { limit: 2 })
  const lost = items.map(({ reason, amountNanos }) => [reason, amountNanos])
  expect(lost).toEqual([['not_delivered', 5_000n]])
  await until(() => ledger.usable(id))
  expect(await settleBeyond()).toBe('charged')
})
