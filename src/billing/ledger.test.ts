// The ledger against a model that is too simple to be wrong, on every store there is, and against
// stores that fail.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '../lib/crypto/ids.ts'
import { findAccount, insertAccount } from '../store/catalog/accounts.ts'
import type { Store } from '../store/index.ts'
import { findEntries, sumEntries } from '../store/ledger/entries.ts'
import { listLosses } from '../store/ledger/losses.ts'
import { findRequest } from '../store/log/requests.ts'
import { aRequest, failureOf, newPlace, type Place, storeKinds } from '../store/test-stores.ts'
import { availableNanos } from './balances.ts'
import { lossNanos } from './call-loss.ts'
import { type Hold, Ledger } from './ledger.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: ledger on PostgreSQL (set TEST_POSTGRES_URL)')
}

const labels = { model: 'txta-plus', unit: 'token', quantity: 3, priceId: 'price_1' }

type Op =
  | { op: 'hold'; wanted: bigint }
  | { op: 'settle'; pick: number; amount: bigint }
  | { op: 'release'; pick: number }
  | { op: 'join'; pick: number }
  | { op: 'credit'; ref: number; amount: bigint }
  | { op: 'holdTask'; task: number; amount: bigint }
  | { op: 'endTask'; task: number; share: bigint | undefined }
  | { op: 'reopen' }

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

const amount = fc.bigInt({ min: 0n, max: 100n })
const pick = fc.nat(20)
const few = fc.nat(5)
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constant('hold' as const), wanted: amount }),
  fc.record({ op: fc.constant('settle' as const), pick, amount }),
  fc.record({ op: fc.constant('release' as const), pick }),
  fc.record({ op: fc.constant('join' as const), pick }),
  fc.record({
    op: fc.constant('credit' as const),
    ref: few,
    amount: fc.bigInt({ min: -80n, max: 200n }).filter((nanos) => nanos !== 0n),
  }),
  fc.record({ op: fc.constant('holdTask' as const), task: few, amount }),
  fc.record({
    op: fc.constant('endTask' as const),
    task: few,
    // Of its hold, in quarters: some cost more than was held.
    share: fc.option(fc.bigInt({ min: 0n, max: 12n }), { nil: undefined }),
  }),
  fc.constant({ op: 'reopen' as const }),
)

interface Model {
  balance: bigint
  /** Since the last credit something was delivered that the balance did not cover. */
  isShort: boolean
  holds: bigint[]
  credits: Map<string, bigint>
  tasks: Map<string, { held: bigint; ended: boolean }>
}

const sum = (values: Iterable<bigint>) => [...values].reduce((total, each) => total + each, 0n)
const openTasks = ({ tasks }: Model) => [...tasks.values()].filter(({ ended }) => !ended)
const heldByTasks = (model: Model) => sum(openTasks(model).map(({ held }) => held))
const available = (model: Model) => model.balance - sum(model.holds) - heldByTasks(model)

/** One account of its own, the ledger over it, and what both should look like. */
class Bench {
  readonly store: Store
  readonly accountId = newId('acc')
  readonly model: Model = {
    balance: 0n,
    isShort: false,
    holds: [],
    credits: new Map(),
    tasks: new Map(),
  }
  readonly holds: Hold[] = []
  ledger!: Ledger

  constructor(store: Store) {
    this.store = store
  }

  async open(): Promise<void> {
    const { store, accountId: id } = this
    await store.tx((tx) => insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 }))
    this.ledger = await Ledger.open(store)
  }

  async run(step: Op): Promise<void> {
    const { ledger, model, accountId: id, holds } = this
    switch (step.op) {
      case 'hold': {
        const got = ledger.hold(id, step.wanted)
        const fits = step.wanted <= available(model)
        expect(got?.amountNanos).toBe(fits ? step.wanted : undefined)
        if (got === undefined) return
        holds.push(got)
        model.holds.push(step.wanted)
        return
      }
      case 'settle':
        return this.#settle(step.pick, step.amount)
      case 'release': {
        if (holds.length === 0) return
        const [hold] = holds.splice(step.pick % holds.length, 1)
        model.holds.splice(step.pick % model.holds.length, 1)
        ledger.release(hold!)
        expect(() => ledger.release(hold!)).toThrow('a hold ends once')
        return
      }
      case 'join': {
        if (holds.length < 2) return
        const [more] = holds.splice(0, 1)
        const [nanos] = model.holds.splice(0, 1)
        const at = step.pick % holds.length
        ledger.join(holds[at]!, more!)
        model.holds[at]! += nanos!
        expect(() => ledger.release(more!)).toThrow('a hold ends once')
        return
      }
      case 'credit':
        return this.#credit(step.ref, step.amount)
      case 'holdTask':
        return this.#holdTask(step.task, step.amount)
      case 'endTask':
        return this.#endTask(step.task, step.share)
      case 'reopen':
        // Holds of calls die with the process; those of tasks do not.
        this.ledger = await Ledger.open(this.store)
        holds.length = 0
        model.holds.length = 0
    }
  }

  async #settle(at: number, wanted: bigint): Promise<void> {
    const { ledger, model, holds, store } = this
    if (holds.length === 0) return
    const [hold] = holds.splice(at % holds.length, 1)
    model.holds.splice(at % model.holds.length, 1)
    const charge = smaller(wanted, available(model))
    const record = aRequest({ accountId: this.accountId })
    const settled = await ledger.settle(hold!, wanted, record, labels)
    expect(settled).toBe(charge < wanted && model.isShort ? 'already_short' : 'charged')
    if (settled === 'already_short') {
      expect(await findRequest(store.read, record.requestId)).toEqual([])
      expect(await findEntries(store.read, record.requestId)).toEqual([])
      return ledger.release(hold!)
    }
    model.isShort ||= charge < wanted
    model.balance -= charge
    expect(await failureOf(ledger.settle(hold!, 1n, record, labels))).toMatch('a hold ends once')
    const [row] = await findRequest(store.read, record.requestId)
    const loss = wanted - charge
    expect([row?.chargeNanos, row && lossNanos(row.detail)]).toEqual([charge, loss])
    const { items: lost } = await listLosses(store.read, { ref: record.requestId, limit: 2 })
    expect(lost.map(({ reason, amountNanos }) => [reason, amountNanos])).toEqual(
      loss > 0n ? [['balance_short', loss]] : [],
    )
    const entries = await findEntries(store.read, record.requestId)
    expect(entries.map(({ kind, amountNanos }) => [kind, amountNanos])).toEqual([
      ['charge', -charge],
    ])
  }

  async #credit(number: number, nanos: bigint): Promise<void> {
    const { ledger, model, accountId } = this
    const ref = `credit:${accountId}:${number}`
    // One ref is one correction, whichever its sign.
    const key = ref
    const said = await ledger.credit(accountId, nanos, { ref, atMs: 1 }).commit()
    const before = model.credits.get(key)
    if (before !== undefined) expect(said).toBe(before === nanos ? 'repeated' : 'mismatch')
    else if (nanos < 0n && available(model) < -nanos) expect(said).toBe('insufficient')
    else {
      expect(said).toBe('done')
      model.credits.set(key, nanos)
      model.balance += nanos
      if (nanos > 0n) model.isShort = false
    }
  }

  async #holdTask(number: number, nanos: bigint): Promise<void> {
    const { ledger, model, accountId } = this
    const task = `video_${accountId}_${number}`
    const said = await ledger.taskHold(task, accountId, nanos, 1).commit()
    if (available(model) < nanos) expect(said).toBe('insufficient')
    else if (model.tasks.has(task)) expect(said).toBe('repeated')
    else {
      expect(said).toBe('done')
      model.tasks.set(task, { held: nanos, ended: false })
    }
  }

  async #endTask(number: number, share: bigint | undefined): Promise<void> {
    const { ledger, model, accountId } = this
    const taskId = `video_${accountId}_${number}`
    const task = model.tasks.get(taskId)
    const chargeNanos = share === undefined ? undefined : ((task?.held ?? 0n) * share) / 4n
    const charge = chargeNanos === undefined ? undefined : { taskId, chargeNanos, ...labels }
    const booked = await ledger.taskEnd(accountId, { taskId, atMs: 1 }, charge).commit()
    expect(booked !== undefined).toBe(task !== undefined && !task.ended)
    if (booked === undefined || task === undefined) return
    const cost = chargeNanos ?? 0n
    const covered = smaller(cost, task.held + available(model))
    const isWithheld = covered < cost && model.isShort
    const charged = isWithheld ? 0n : covered
    const shortNanos = isWithheld ? 0n : cost - covered
    expect(booked).toEqual({ chargeNanos: charged, shortNanos, isWithheld })
    const entries = await findEntries(this.store.read, taskId)
    const isCharged = entries.some(({ kind }) => kind === 'charge')
    expect(isCharged).toBe(charge !== undefined && !isWithheld)
    model.isShort ||= shortNanos > 0n
    task.ended = true
    model.balance -= charged
  }

  /** Memory, store and model agree, and no account is overspent. */
  async check(): Promise<void> {
    const { ledger, model, accountId, store } = this
    const funds = ledger.funds(accountId)!
    expect(availableNanos(funds)).toBe(available(model))
    expect(availableNanos(funds) >= 0n).toBe(true)
    expect(funds).toMatchObject({
      balanceNanos: model.balance,
      callHoldsNanos: sum(model.holds),
      taskHoldsNanos: heldByTasks(model),
      pending: 0,
      stale: false,
    })
    const stored = await findAccount(store.read, accountId)
    expect(stored).toMatchObject({ balanceNanos: model.balance, heldNanos: heldByTasks(model) })
  }
}

describe.each([...storeKinds])('the ledger on %s', (dialect) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  test('does what the model does, step by step, through reopenings', async () => {
    const rich: Op = { op: 'credit', ref: 100, amount: 150n }
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40 }), async (steps) => {
        const bench = new Bench(store)
        await bench.open()
        for (const step of [rich, ...steps]) {
          await bench.run(step)
          await bench.check()
        }
      }),
      { numRuns: 40 },
    )
  })

  test('never spends more than there is, however much happens at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 30, maxLength: 80 }), async (steps) => {
        const bench = new Bench(store)
        await bench.open()
        const { ledger, accountId } = bench
        const solvent = () => availableNanos(ledger.funds(accountId)!) >= 0n
        await ledger.credit(accountId, 200n, { ref: newId('credit'), atMs: 1 }).commit()
        await Promise.all(
          steps.map((step) => atOnce(bench, step).then(() => expect(solvent()).toBe(true))),
        )
        for (const hold of bench.holds.splice(0)) ledger.release(hold)
        const funds = ledger.funds(accountId)!
        const stored = await findAccount(store.read, accountId)
        expect(stored).toMatchObject({
          balanceNanos: funds.balanceNanos,
          heldNanos: funds.taskHoldsNanos,
        })
        expect([funds.callHoldsNanos, funds.stale]).toEqual([0n, false])
        const sums = (await sumEntries(store.read)).find((each) => each.accountId === accountId)
        expect(sums).toMatchObject({
          balanceNanos: funds.balanceNanos,
          heldNanos: funds.taskHoldsNanos,
        })
        const again = await Ledger.open(store)
        expect(again.funds(accountId)).toMatchObject({
          balanceNanos: funds.balanceNanos,
          taskHoldsNanos: funds.taskHoldsNanos,
        })
      }),
      { numRuns: 30 },
    )
  })
})

/** The same steps without waiting for each other; checks only what holds without a model. */
async function atOnce({ ledger, accountId, holds }: Bench, step: Op): Promise<void> {
  if (step.op === 'hold') {
    const hold = ledger.hold(accountId, step.wanted)
    if (hold !== undefined) holds.push(hold)
  } else if (step.op === 'settle' || step.op === 'release') {
    const hold = holds.splice(step.pick % Math.max(holds.length, 1), 1)[0]
    if (hold === undefined) return
    if (step.op === 'release') return ledger.release(hold)
    const settled = await ledger.settle(hold, step.amount, aRequest({ accountId }), labels)
    if (settled === 'already_short') ledger.release(hold)
  } else if (step.op === 'credit') {
    const ref = `credit:${accountId}:${step.ref}`
    await ledger.credit(accountId, step.amount, { ref, atMs: 1 }).commit()
  } else if (step.op === 'holdTask') {
    await ledger.taskHold(`video_${accountId}_${step.task}`, accountId, step.amount, 1).commit()
  } else if (step.op === 'endTask') {
    const taskId = `video_${accountId}_${step.task}`
    const chargeNanos = (step.share ?? 0n) * 20n
    const charge = step.share === undefined ? undefined : { taskId, chargeNanos, ...labels }
    await ledger.taskEnd(accountId, { taskId, atMs: 1 }, charge).commit()
  }
}
