// The audit finds what does not add up, each kind by itself.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { VideoTask } from '../contract/task.ts'
import { insertAccount } from '../store/accounts.ts'
import { appendEntry } from '../store/entries.ts'
import type { Store } from '../store/index.ts'
import { insertTask } from '../store/tasks.ts'
import { engines, newPlace, type Place } from '../store/test-engines.ts'
import { aTask } from '../store/test-tasks.ts'
import { auditBooks } from './audit.ts'

if (!engines.includes('postgres')) {
  console.error('left out: the audit on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...engines])('an audit on %s', (engine) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(engine)
    store = await place.open()
    await store.tx(async (tx) => {
      await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
      await book(tx, 'credit', 'c_1', 1_000n)
    })
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  type Tx = Parameters<Parameters<Store['tx']>[0]>[0]
  const book = (
    tx: Tx,
    kind: 'credit' | 'hold' | 'release' | 'charge',
    ref: string,
    nanos: bigint,
  ) => appendEntry(tx, { atMs: 1, accountId: 'acc_1', kind, amountNanos: nanos, ref })

  /** A task with the entries that are told. */
  const keep = (
    more: Partial<VideoTask>,
    entries: Partial<Record<'hold' | 'release' | 'charge', bigint>>,
  ) =>
    store.tx(async (tx) => {
      const task = aTask({ holdNanos: 30n, ...more })
      await insertTask(tx, task)
      for (const kind of ['hold', 'release', 'charge'] as const) {
        if (entries[kind] !== undefined) await book(tx, kind, task.id, entries[kind])
      }
    })
  const problems = async () => (await auditBooks(store)).problems.map(({ problem }) => problem)

  const done = { state: 'succeeded', chargeNanos: 20n } as const
  const right = { hold: -30n, release: 30n, charge: -20n }

  test('finds nothing where everything is right', async () => {
    await keep({}, { hold: -30n })
    await keep(done, right)
    await keep({ state: 'failed' }, { hold: -30n, release: 30n })
    expect(await problems()).toEqual([])
  })

  const agree = 'charge and task do not agree'
  const atOne = 'the task and its hold are not at one'
  test.each([
    ['a success without its charge', done, { hold: -30n, release: 30n }, agree],
    ['another charge than the task says', done, { ...right, charge: -19n }, agree],
    ['a failure that was charged', { state: 'failed', chargeNanos: 20n } as const, right, agree],
    ['an end whose hold is open', { state: 'failed' } as const, { hold: -30n }, atOne],
    ['a task that holds nothing', {}, {}, atOne],
    ['a live one whose hold has ended', {}, { hold: -30n, release: 30n }, atOne],
    ['a hold of another size', {}, { hold: -29n }, 'hold and task do not agree'],
  ])('finds %s', async (_, more, entries, problem) => {
    await keep(more, entries)
    expect(await problems()).toEqual([problem])
  })

  test('finds a hold without a task', async () => {
    await store.tx((tx) => book(tx, 'hold', 'video_x', -5n))
    expect(await problems()).toEqual(['hold and task do not agree'])
  })
})
