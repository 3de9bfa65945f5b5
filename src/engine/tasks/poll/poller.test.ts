import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Checked } from '../../../contract/provider.ts'
import type { Task, TaskRow } from '../../../contract/task.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { insertTask } from '../../../store/tasks/tasks.ts'
import { storeKinds, until } from '../../../store/test-stores.ts'
import type { Engine } from '../../engine.ts'
import { model, newTaskEngine, says, succeeded, type TaskEngine } from '../test-task-engine.ts'
import { advanceTask } from './advance-task.ts'
import { HeldLeases } from './held-leases.ts'
import { PollWrites } from './poll-batcher.ts'
import { Poller } from './poller.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the poller on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...storeKinds])('the poller on %s', (on) => {
  let it: TaskEngine
  let first: Task
  const running: Poller[] = []

  beforeEach(async () => {
    it = await newTaskEngine(on)
    first = (await it.create()) as Task
    it.clock.ms += 60_000
  })

  afterEach(async () => {
    for (const poller of running.splice(0)) await poller.stop()
    await it.close()
  })

  /** The same gateway's parts with a loop of their own. */
  const start = (owner = 'one', store = it.engine.store): Engine => {
    const engine: Engine = { ...it.engine, store }
    const poller = new Poller(engine, owner, { drainMs: 50 })
    running.push(poller)
    Object.assign(engine, { jobs: { ...it.engine.jobs, poller } })
    poller.start()
    return engine
  }
  /** More like the first one, without the money behind it. */
  const addAlike = (count: number, more: Partial<TaskRow> = {}) =>
    it.engine.store.tx(async (tx) => {
      for (let i = 0; i < count; i++) {
        const ids = { id: newId('video', it.clock.ms + i), upstreamId: newId('up') }
        await insertTask(tx, { ...first, ...ids, ...more })
      }
    })
  const take = async (held: HeldLeases) =>
    (await held.take({ limit: 10 })).leased.map(({ task, fence }) => ({ task, fence }))
  /** As if its owner had sent no heartbeat for too long. */
  const expire = (id: string) =>
    it.engine.store.tx((tx) =>
      tx.updateTable('tasks').set({ lease_until_ms: 1 }).where('id', '=', id).execute(),
    )
  const leaseOf = (id: string) =>
    it.engine.store.read
      .selectFrom('tasks')
      .select(['lease_owner', 'lease_until_ms'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

  test('brings a task to its end without anybody asking', async () => {
    it.script.check = () => succeeded(5)
    const engine = start()
    await until(async () => (await it.row(first.id)).state === 'succeeded')
    expect(engine.jobs.poller.lag.read()).toMatchObject({ polls: 1 })
    expect((await it.booked(first.id)).map(([kind]) => kind)).toEqual(['hold', 'release', 'charge'])
  })

  test('looks again when it is woken, and writes what it saw', async () => {
    const engine = start()
    await until(async () => (await it.row(first.id)).checks === 1)
    await until(async () => (await leaseOf(first.id)).lease_owner === null)
    const steps = await it.row(first.id)
    expect(steps).toMatchObject({ state: 'running', progress: 30 })
    expect(steps.nextCheckAtMs).toBeGreaterThan(it.clock.ms)
    it.clock.ms = steps.nextCheckAtMs
    engine.jobs.poller.wake(it.clock.ms)
    await until(async () => (await it.row(first.id)).checks === 2)
  })

  test('knows after a restart how long tasks of a model take', async () => {
    const state = 'succeeded'
    await addAlike(3, { state, finishedAtMs: first.createdAtMs + 42_000 })
    const engine = start()
    await until(() => engine.jobs.poller.durations.get(model)?.total === 3)
  })

  test('has no more than so many looks of a channel at once', async () => {
    const answers: ((checked: Checked) => void)[] = []
    it.script.check = () => new Promise<Checked>((resolve) => answers.push(resolve))
    await addAlike(69)
    const engine = start()
    await until(() => answers.length === 64)
    engine.jobs.poller.wake(it.clock.ms)
    await until(() => engine.jobs.poller.lag.read().polls === 64)
    expect(answers).toHaveLength(64)
    for (const answer of answers.splice(0)) answer(says({ state: 'running' }))
    await until(() => it.script.checks === 70)
    for (const answer of answers.splice(0)) answer(says({ state: 'running' }))
    await until(() => engine.jobs.poller.lag.read().polls === 70)
  })

  test('that is closed gives back the leases of looks that hang', async () => {
    it.script.check = () => new Promise<Checked>(() => {})
    start('one')
    await until(() => it.script.checks === 1)
    expect((await leaseOf(first.id)).lease_owner).toBe('one')
    await running[0]!.stop()
    expect(await leaseOf(first.id)).toEqual({ lease_owner: null, lease_until_ms: 0 })
  })

  test('comes back to a task as soon as a store answers again that was away', async () => {
    const { store } = it.engine
    let isAway = false
    let refused = 0
    const flaky: typeof store = {
      ...store,
      get healthy() {
        return !isAway
      },
      tx: (work) => {
        if (!isAway) return store.tx(work)
        refused++
        return Promise.reject(new Error('the store is away'))
      },
    }
    // Reports during the outage cannot be written.
    it.script.check = () => {
      isAway = it.script.checks === 1
      return says({ state: 'running', progress: it.script.checks })
    }
    const { lease_until_ms: untilMs } = await leaseOf(first.id)
    start('one', flaky)
    await until(() => refused > 0)
    expect(await leaseOf(first.id)).toMatchObject({ lease_owner: 'one' })
    expect((await leaseOf(first.id)).lease_until_ms).toBeGreaterThan(untilMs)
    isAway = false
    // The clock stands still: by itself the lease would not end.
    await until(async () => (await it.row(first.id)).progress === 2)
    expect(await it.row(first.id)).toMatchObject({ checks: 1, state: 'running' })
    expect(await leaseOf(first.id)).toEqual({ lease_owner: null, lease_until_ms: 0 })
  })

  test('a task that cannot be moved for other reasons waits for its lease to end', async () => {
    it.script.check = () => {
      throw new Error('a bug')
    }
    const engine = start()
    await until(() => it.script.checks === 1)
    await until(() => engine.jobs.poller.lag.read().polls === 1)
    engine.jobs.poller.wake(it.clock.ms)
    await Bun.sleep(300)
    expect(it.script.checks).toBe(1)
    expect((await leaseOf(first.id)).lease_owner).toBe('one')
  })

  test('holds on to a lease while a look takes long, in good time', async () => {
    const one = new HeldLeases(it.engine, 'one')
    await take(one)
    await expire(first.id)
    it.clock.ms += 7_000
    await one.renew()
    expect((await leaseOf(first.id)).lease_until_ms).toBe(1)
    it.clock.ms += 1_000
    await one.renew()
    expect((await leaseOf(first.id)).lease_until_ms).toBeGreaterThan(1)
    expect(await take(new HeldLeases(it.engine, 'two'))).toEqual([])
  })

  test('takes over from a dead gateway, which writes nothing when it comes back', async () => {
    const [one, two] = [new HeldLeases(it.engine, 'one'), new HeldLeases(it.engine, 'two')]
    const [old] = await take(one)
    expect(await take(two)).toEqual([])
    await expire(first.id)
    const [young] = await take(two)
    expect(young!.fence).toBe(old!.fence + 1)
    const { poller } = it.engine.jobs
    const later: Task = { ...old!.task, progress: 50 }
    expect(await poller.savePoll(later, 'queued', old!.fence)).toBe(false)
    it.clock.ms += 8_000
    await one.renew()
    expect([one.size, two.size]).toEqual([0, 1])
    expect((await leaseOf(first.id)).lease_owner).toBe('two')
    await one.release()
    expect((await leaseOf(first.id)).lease_owner).toBe('two')
    expect(await poller.savePoll(later, 'queued', young!.fence)).toBe(true)
  })

  test('ends a task once when two gateways see its end at the same time', async () => {
    it.script.check = () => succeeded(5)
    const [old] = await take(new HeldLeases(it.engine, 'one'))
    await expire(first.id)
    const [young] = await take(new HeldLeases(it.engine, 'two'))
    await Promise.all([advanceTask(it.engine, old!), advanceTask(it.engine, young!)])
    expect(it.script.checks).toBe(2)
    expect((await it.booked(first.id)).map(([kind]) => kind)).toEqual(['hold', 'release', 'charge'])
    const { stored, memory } = await it.money()
    expect(stored).toEqual(memory)
  })

  test('writes looks that come together in one transaction', async () => {
    await addAlike(19)
    const held = new HeldLeases(it.engine, 'one')
    const { leased } = await held.take({ limit: 64 })
    let transactions = 0
    const { store } = it.engine
    const tx: typeof store.tx = (work) => {
      transactions++
      return store.tx(work)
    }
    const writes = new PollWrites({ ...store, dialect: store.dialect, tx })
    const moved = await Promise.all(
      leased.map(({ task, fence }) => {
        const poll = { task: { ...task, progress: 7 }, before: task, still: task.state, fence }
        return writes.save(poll, leased.length)
      }),
    )
    expect(moved).toEqual(Array.from({ length: 20 }, () => true))
    expect(transactions).toBe(1)
    expect((await it.row(first.id)).progress).toBe(7)
  })
})
