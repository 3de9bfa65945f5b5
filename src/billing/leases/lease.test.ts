// Rounds of draws and recalls over a store of one number, and who gets what is free.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Answer, Cluster, Notice } from '../../store/index.ts'
import { Inquiries } from './inquiries.ts'
import { aheadWithin, allot, type Drawn, Leases, type Waiter } from './lease.ts'

type Outcome = 'held' | 'alone' | 'refused'
type TestWaiter = Waiter<string, Outcome>

/** All that is free is in memory; another gateway has some of it, and returns it in parts. */
class TestLeases extends Leases<TestWaiter> {
  readonly seen: string[] = []
  readonly #store: { free: bigint; others: bigint }

  constructor(store: { free: bigint; others: bigint }, inquiries?: Inquiries) {
    super({ kind: 'wanted', accountId: 'acc_1' }, inquiries)
    this.#store = store
  }

  reserve(nanos: bigint): Promise<Outcome> {
    return new Promise((resolve, reject) => this.join({ of: [], nanos, resolve, reject }))
  }

  aheadOf(nanos: bigint): bigint {
    return this.ahead(nanos)
  }

  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.inTurn(work)
  }

  protected override draw(asking: ReadonlySet<TestWaiter>): Promise<Drawn<TestWaiter>> {
    return this.inTurn(async () => {
      this.seen.push('draw')
      await Bun.sleep(0)
      if (this.#store.free < -100n) throw new Error('the store is gone')
      this.leave((waiter) => {
        if (!asking.has(waiter) || this.#store.free < waiter.nanos) return false
        this.#store.free -= waiter.nanos
        waiter.resolve('held')
        return true
      })
      const holders = this.#store.others > 0n ? ['gwy_2'] : []
      return { short: this.left(asking), holders }
    })
  }

  protected override refuse(short: readonly TestWaiter[], isAlone: boolean): void {
    const refused = new Set(short)
    this.leave((waiter) => refused.has(waiter))
    for (const { resolve } of short) resolve(isAlone ? 'alone' : 'refused')
  }

  protected override async returnUnheld(): Promise<bigint> {
    this.seen.push('return')
    return 0n
  }

  protected override async holders(): Promise<string[]> {
    return this.#store.others > 0n ? ['gwy_2'] : []
  }
}

/** Another gateway that replies to each recall with what `give` returns; undefined: it does not. */
function clusterOf(give: () => bigint | undefined) {
  const listeners: ((notice: Notice) => void)[] = []
  const seen = { recalls: 0, sweeps: 0 }
  const cluster = {
    gatewayId: 'gwy_1',
    subscribe: (listener: (notice: Notice) => void) => void listeners.push(listener),
    publish(notice: Notice) {
      if (notice.kind !== 'wanted') return
      seen.recalls++
      const nanos = give()?.toString()
      if (nanos === undefined) return
      const answer: Answer = { kind: 'returned', nanos, nonce: notice.nonce, by: 'gwy_2' }
      queueMicrotask(() => {
        for (const listener of listeners) listener(answer)
      })
    },
    sweep: async () => void seen.sweeps++,
  } as unknown as Cluster
  return { inquiries: new Inquiries(cluster), seen }
}

test('where nobody else has any, too little is refused after one draw', async () => {
  const leases = new TestLeases({ free: 10n, others: 0n })
  expect(await Promise.all([leases.reserve(6n), leases.reserve(5n), leases.reserve(4n)])).toEqual([
    'held',
    'alone',
    'held',
  ])
  expect([leases.seen, leases.isIdle]).toEqual([['draw', 'draw'], true])
})

test('others return what they do not hold, and then it is drawn', async () => {
  const store = { free: 0n, others: 7n }
  const { inquiries, seen } = clusterOf(() => {
    const part = store.others > 4n ? 4n : store.others
    store.others -= part
    store.free += part
    return part
  })
  const leases = new TestLeases(store, inquiries)
  expect(await leases.reserve(7n)).toBe('held')
  expect([leases.seen.length, seen.recalls]).toEqual([3, 2])
})

test('when all have answered that they have nothing to return, the next draw is the last', async () => {
  const { inquiries, seen } = clusterOf(() => 0n)
  const leases = new TestLeases({ free: 0n, others: 5n }, inquiries)
  expect(await leases.reserve(1n)).toBe('refused')
  expect([leases.seen.length, seen]).toEqual([2, { recalls: 1, sweeps: 0 }])
})

test('who does not answer is looked for three times', async () => {
  const { inquiries, seen } = clusterOf(() => undefined)
  const leases = new TestLeases({ free: 0n, others: 5n }, inquiries)
  expect(await leases.reserve(1n)).toBe('refused')
  expect([leases.seen.length, seen]).toEqual([4, { recalls: 3, sweeps: 3 }])
})

test('after a recall nothing is leased in advance; before, twice as much with each draw', async () => {
  const { inquiries } = clusterOf(() => 0n)
  const leases = new TestLeases({ free: 0n, others: 5n }, inquiries)
  expect([leases.aheadOf(2n), leases.aheadOf(2n), leases.aheadOf(1n)]).toEqual([64n, 128n, 128n])
  await leases.reserve(1n)
  expect(leases.aheadOf(2n)).toBe(0n)
  const asked = new TestLeases({ free: 0n, others: 5n }, inquiries)
  await asked.recalled()
  expect([asked.seen, asked.aheadOf(2n)]).toEqual([['return'], 0n])
})

test('a draw that fails fails all who wait, and the next one begins anew', async () => {
  const store = { free: -200n, others: 0n }
  const leases = new TestLeases(store)
  const said = await Promise.allSettled([leases.reserve(1n), leases.reserve(2n)])
  expect(said.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  store.free = 5n
  expect(await leases.reserve(5n)).toBe('held')
})

test('turns come one after the other, also after one has failed', async () => {
  const leases = new TestLeases({ free: 0n, others: 0n })
  const order: number[] = []
  const turn = (number: number, fails = false) =>
    leases.turn(async () => {
      await Bun.sleep(3 - number)
      order.push(number)
      if (fails) throw new Error('no')
    })
  const turns = [turn(1), turn(2, true), turn(3)]
  expect(leases.isIdle).toBe(false)
  await Promise.allSettled(turns)
  expect([order, leases.isIdle]).toEqual([[1, 2, 3], true])
})

test('what a transaction lacked is gathered: again if something moved, and three times at most', async () => {
  const alone = new TestLeases({ free: 0n, others: 0n })
  expect(await alone.gather(0)).toBe(false)
  const { inquiries, seen } = clusterOf(() => 0n)
  const shared = new TestLeases({ free: 0n, others: 5n }, inquiries)
  const gathered = [await shared.gather(0), await shared.gather(1), await shared.gather(3)]
  expect([gathered, seen.recalls]).toEqual([[true, false, false], 2])
})

test('what is free is given in order, of all that a call needs or of none', () => {
  const free = new Map([
    ['a', 10n],
    ['b', 4n],
  ])
  const { lacking, takenOf } = allot(
    free,
    [
      { of: ['a', 'b'], nanos: 5n },
      { of: ['a', 'b', 'none'], nanos: 3n },
      { of: ['a'], nanos: 8n, takesLess: true },
      { of: ['a'], nanos: 1n },
    ],
    true,
  )
  expect(lacking).toEqual([['b'], [], ['a'], ['a']])
  expect(['a', 'b', 'none', 'other'].map(takenOf)).toEqual([10n, 3n, 3n, 0n])
})

test('no more is given than is free, and who is passed over would not have fitted', () => {
  const of = fc.subarray(['a', 'b', 'c'], { minLength: 1 })
  const want = fc.record({ of, nanos: fc.bigInt({ min: 0n, max: 30n }) })
  const amount = fc.bigInt({ min: -20n, max: 60n })
  fc.assert(
    fc.property(fc.array(want, { maxLength: 10 }), amount, amount, amount, (wants, a, b, c) => {
      const left = new Map([
        ['a', a],
        ['b', b],
        ['c', c],
      ])
      const { lacking, takenOf } = allot(new Map(left), wants)
      wants.forEach((each, at) => {
        const short = each.of.filter((id) => left.get(id)! < each.nanos)
        expect(lacking[at]).toEqual(short)
        if (short.length > 0) return
        for (const id of each.of) left.set(id, left.get(id)! - each.nanos)
      })
      const given = new Map([
        ['a', a],
        ['b', b],
        ['c', c],
      ])
      for (const [id, nanos] of left) expect(takenOf(id)).toBe(given.get(id)! - nanos)
    }),
  )
})

test('a quarter of what is left is leased in advance, if so much is wanted', () => {
  expect([aheadWithin(400n, 300n), aheadWithin(400n, 30n), aheadWithin(-4n, 9n)]).toEqual([
    100n,
    30n,
    0n,
  ])
})
