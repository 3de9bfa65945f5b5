// How upstream reports change a task and its money.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../contract/errors.ts'
import type { Checked, TaskReport } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { storeKinds } from '../../../store/test-stores.ts'
import {
  anError,
  failed,
  leaseMs,
  newTaskEngine,
  says,
  secondNanos,
  succeeded,
  type TaskEngine,
  video,
} from '../test-task-engine.ts'
import { advanceTask } from './advance-task.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the course of tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const minute = 60_000
const hour = 60 * minute
const opening = 100_000_000_000n
const holdNanos = 5n * secondNanos
const missing = says({ state: 'missing' })
const empty = says({ state: 'succeeded', media: [], usage: { outputSeconds: 5 }, raw: {} })

describe.each([...storeKinds])('a task on %s', (on) => {
  let it: TaskEngine
  let task: Task

  beforeEach(async () => {
    it = await newTaskEngine(on, opening)
    const made = await it.create()
    if (made instanceof Refusal) throw new Error(made.message)
    task = made
  })
  afterEach(() => it.close())

  const hear = async (checked: Checked): Promise<Task> => {
    it.script.check = () => checked
    await it.tick()
    return it.row(task.id)
  }
  const charges = async () => (await it.entries(task.id)).filter(({ kind }) => kind === 'charge')
  const expectFree = async () => {
    expect((await it.row(task.id)).chargeNanos).toBe(0n)
    expect(await it.booked(task.id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
    ])
    expect(await it.money()).toEqual({ stored: [opening, 0n], memory: [opening, 0n] })
  }
  const expectCharged = async (nanos: bigint) => {
    expect((await it.row(task.id)).chargeNanos).toBe(nanos)
    expect(await it.booked(task.id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
      ['charge', -nanos],
    ])
    const left = opening - nanos
    expect(await it.money()).toEqual({ stored: [left, 0n], memory: [left, 0n] })
  }

  test('only ever goes forward while it lives', async () => {
    const steps: [TaskReport, string, number][] = [
      [{ state: 'queued' }, 'queued', 0],
      [{ state: 'queued', progress: 5 }, 'queued', 5],
      [{ state: 'running', progress: 40 }, 'running', 40],
      [{ state: 'queued', progress: 10 }, 'running', 40],
      [{ state: 'running' }, 'running', 40],
      [{ state: 'running', progress: 100 }, 'running', 99],
    ]
    for (const [report, state, progress] of steps) {
      expect(await hear(says(report))).toMatchObject({ state, progress })
    }
    expect(await it.row(task.id)).toMatchObject({ checks: steps.length })
    expect(await it.booked(task.id)).toEqual([['hold', -holdNanos]])
  })

  test('keeps the moment at which it began to run', async () => {
    const { startedAtMs } = await hear(says({ state: 'running' }))
    expect(startedAtMs).toBe(it.clock.ms)
    expect((await hear(says({ state: 'running' }))).startedAtMs).toBe(startedAtMs!)
    expect((await hear(succeeded(5))).startedAtMs).toBe(startedAtMs!)
  })

  test('that succeeded has its result, its usage and its charge', async () => {
    expect(await hear(succeeded(5))).toMatchObject({
      state: 'succeeded',
      progress: 100,
      media: [video],
      usage: { outputSeconds: 5 },
      reported: { duration: 5 },
      finishedAtMs: it.clock.ms,
    })
    await expectCharged(holdNanos)
    const [charge] = await charges()
    expect(charge).toMatchObject({ unit: 'video_second', quantity: 5, priceId: 'price_video' })
    expect(charge!.estimated).not.toBe(true)
  })

  test.each([
    [3, 3n * secondNanos, 3],
    [2.5, (5n * secondNanos) / 2n, 2.5],
    [0, 0n, 0],
    [5.001, 5n * secondNanos, 5],
    [600, 5n * secondNanos, 5],
  ])('that made %d seconds of the five asked for costs %d', async (reported, nanos, quantity) => {
    await hear(succeeded(reported))
    await expectCharged(nanos)
    expect((await charges())[0]).toMatchObject({ quantity })
    expect((await charges())[0]!.estimated).not.toBe(true)
  })

  test.each([undefined, -1, Number.NaN])(
    'whose usage is %p costs what was asked for, as an estimate',
    async (reported) => {
      await hear(succeeded(reported))
      await expectCharged(holdNanos)
      expect((await charges())[0]).toMatchObject({ quantity: 5, estimated: true })
    },
  )

  test('that failed is free, and its error is fit to be read', async () => {
    const ended = await hear(failed('no film-9-secret-name at http://10.0.0.7:99/x'))
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'upstream_error' } })
    expect(ended.error!.message).not.toContain('10.0.0.7')
    expect(ended.error!.message).not.toContain('film-9-secret-name')
    expect(ended.error!.message).toContain(task.model)
    await expectFree()
  })

  test('that its upstream cancelled is cancelled and free', async () => {
    expect(await hear(says({ state: 'cancelled' }))).toMatchObject({ state: 'cancelled' })
    await expectFree()
  })

  test('that is done without a result is asked for again, and then it has one', async () => {
    for (let i = 1; i < 5; i++) {
      expect(await hear(empty)).toMatchObject({ state: 'queued', misses: i })
    }
    await hear(succeeded(5))
    await expectCharged(holdNanos)
  })

  test('that stays done without a result fails and is free', async () => {
    for (let i = 1; i < 5; i++) await hear(empty)
    expect(await hear(empty)).toMatchObject({ state: 'failed' })
    expect((await it.row(task.id)).error!.code).toBe('no_output')
    await expectFree()
  })

  test('whose file can no longer be had is asked for again, and then fails', async () => {
    it.clock.ms += hour
    const stale = says({
      state: 'succeeded',
      media: [{ ...video, expiresAtMs: it.clock.ms }],
      usage: { outputSeconds: 5 },
      raw: {},
    })
    for (let i = 1; i < 5; i++) expect((await hear(stale)).state).toBe('queued')
    expect(await hear(stale)).toMatchObject({ state: 'failed', error: { code: 'no_output' } })
    await expectFree()
  })

  test('that its upstream does not know is lost only after three times and ten minutes', async () => {
    it.clock.ms += hour
    const { missingSinceMs } = await hear(missing)
    expect(missingSinceMs).toBe(it.clock.ms)
    for (let i = 1; i <= 4; i++) expect(await hear(missing)).toMatchObject({ missingSinceMs })
    it.clock.ms = missingSinceMs! + 10 * minute - 1
    expect((await hear(missing)).state).toBe('queued')
    it.clock.ms = missingSinceMs! + 10 * minute
    expect(await hear(missing)).toMatchObject({
      state: 'failed',
      error: { code: 'upstream_task_lost' },
    })
    await expectFree()
  })

  test('that is missing for long is not lost before the third time either', async () => {
    expect((await hear(missing)).state).toBe('queued')
    it.clock.ms += hour
    expect((await hear(missing)).state).toBe('queued')
    const back = await hear(says({ state: 'running' }))
    expect(back).toMatchObject({ state: 'running', misses: 0 })
    expect(back.missingSinceMs).toBeUndefined()
    expect((await hear(missing)).state).toBe('running')
    it.clock.ms += hour
    expect((await hear(missing)).state).toBe('running')
    expect((await hear(missing)).state).toBe('failed')
    await expectFree()
  })

  test('with a state that nobody knows is running, and that is told once', async () => {
    const lines: string[] = []
    const warn = (msg: string, fields = {}) => lines.push(`${msg} ${JSON.stringify(fields)}`)
    Object.assign(it.engine, { log: { ...it.engine.log, warn } })
    const odd = says({ state: 'running', unknownStatus: 'Polishing' })
    for (let i = 0; i < 3; i++) expect(await hear(odd)).toMatchObject({ state: 'running' })
    expect(lines.filter((line) => line.includes('Polishing'))).toHaveLength(1)
    await hear(says({ state: 'running', unknownStatus: 'Varnishing' }))
    expect(lines.filter((line) => line.includes('Varnishing'))).toHaveLength(1)
  })

  test('that nobody looked at for days is asked for once more before it is given up', async () => {
    it.clock.ms = task.createdAtMs + 72 * hour
    expect(await hear(succeeded(5))).toMatchObject({ state: 'succeeded' })
    await expectCharged(holdNanos)
  })

  test('stays as it was while questions fail, and ends after a day', async () => {
    await hear(says({ state: 'running', progress: 50 }))
    const unanswered: Checked = { kind: 'failed', error: anError() }
    for (let i = 0; i < 8; i++) {
      expect(await hear(unanswered)).toMatchObject({ state: 'running', progress: 50 })
    }
    it.clock.ms = task.createdAtMs + 24 * hour + 1
    const ended = await hear(unanswered)
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'upstream_timeout' } })
    await expectFree()
    it.clock.ms += hour
    await hear(succeeded(5))
    expect(await it.row(task.id)).toEqual(ended)
  })

  test('whose channel is gone waits for it, and ends after a day', async () => {
    const { catalog } = it.engine
    it.engine.catalog = { ...catalog, channels: [] }
    expect((await hear(succeeded(5))).state).toBe('queued')
    expect(it.script.checks).toBe(0)
    it.engine.catalog = catalog
    expect((await hear(succeeded(5))).state).toBe('succeeded')
  })

  test.each<[string, Checked, Checked[]]>([
    ['succeeded', succeeded(5), [failed(), succeeded(2, 'https://example.com/other.mp4')]],
    ['failed', failed(), [succeeded(5), says({ state: 'running' })]],
    ['cancelled', says({ state: 'cancelled' }), [succeeded(5), failed()]],
  ])('that has %s stays so, whatever is said later', async (state, first, later) => {
    const [leased] = await leaseWhenDue()
    it.script.check = () => first
    await advanceTask(it.engine, leased!)
    const ended = await it.row(task.id)
    expect(ended.state).toBe(state as Task['state'])
    const booked = await it.booked(task.id)
    for (const checked of later) {
      it.script.check = () => checked
      // A gateway that leased it before it ended and comes back late.
      await advanceTask(it.engine, leased!)
      it.clock.ms += hour
      expect(await it.advance()).toBe(0)
      expect(await it.row(task.id)).toEqual(ended)
      expect(await it.booked(task.id)).toEqual(booked)
    }
  })

  const leaseWhenDue = () => {
    it.clock.ms += hour
    return it.lease()
  }

  test('that two look after at once ends once', async () => {
    const [first] = await leaseWhenDue()
    it.clock.ms += leaseMs
    const [second] = await it.lease()
    const answers = [succeeded(4), failed()]
    it.script.check = async () => {
      const answer = answers.shift()!
      await Bun.sleep(5)
      return answer
    }
    await Promise.all([advanceTask(it.engine, first!), advanceTask(it.engine, second!)])
    const { state } = await it.row(task.id)
    if (state === 'succeeded') await expectCharged(4n * secondNanos)
    else await expectFree()
  })

  test('ends although somebody moved it on in the meantime', async () => {
    const [slow] = await leaseWhenDue()
    it.clock.ms += leaseMs
    expect(await hear(says({ state: 'running', progress: 60 }))).toMatchObject({ state: 'running' })
    const { startedAtMs } = await it.row(task.id)
    it.script.check = () => succeeded(5)
    await advanceTask(it.engine, slow!)
    expect(await it.row(task.id)).toMatchObject({ state: 'succeeded', startedAtMs })
    expect(it.engine.ledger.usable(it.token.accountId)).toBe(true)
    await expectCharged(holdNanos)
  })

  test('is not set back by somebody whose lease has ended', async () => {
    const [slow] = await leaseWhenDue()
    it.clock.ms += leaseMs
    const [quick] = await it.lease()
    it.script.check = () => says({ state: 'queued', progress: 7 })
    await advanceTask(it.engine, slow!)
    expect((await it.row(task.id)).progress).toBe(0)
    it.script.check = () => says({ state: 'queued', progress: 3 })
    await advanceTask(it.engine, quick!)
    expect((await it.row(task.id)).progress).toBe(3)
  })

  test('is charged at the price it was admitted at', async () => {
    it.engine.prices = {
      ...it.engine.prices,
      current: () => ({ ...it.engine.prices.byId('price_video')!, id: 'price_new' }),
    }
    await hear(succeeded(5))
    await expectCharged(holdNanos)
    expect((await charges())[0]!.priceId).toBe('price_video')
  })
})
