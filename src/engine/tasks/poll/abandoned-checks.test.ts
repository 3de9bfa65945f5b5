// Abandoned tasks: a late success is recorded once as the operator's loss, however many gateways
// check and however often, with what its upstream takes; state and charge of the task never change.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createCostBook } from '../../../billing/prices/cost-book.ts'
import { createPriceBook } from '../../../billing/prices/price-book.ts'
import { sumUsage } from '../../../billing/prices/usage-rows.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { Task } from '../../../contract/task.ts'
import { formatNanos } from '../../../lib/text/decimal.ts'
import { listLosses } from '../../../store/ledger/losses.ts'
import { sumDays } from '../../../store/proof/totals.ts'
import { sumWork } from '../../../store/proof/work-sums.ts'
import { storeKinds } from '../../../store/test-stores.ts'
import {
  anError,
  failed,
  newTaskEngine,
  says,
  secondNanos,
  succeeded,
  type TaskEngine,
} from '../test-task-engine.ts'
import { pollOnce } from './abandoned-checks.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: late looks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

describe.each([...storeKinds])('tasks that were given up on %s', (on) => {
  let it: TaskEngine
  beforeEach(async () => {
    it = await newTaskEngine(on)
  })
  afterEach(() => it.close())

  const create = async (): Promise<Task> => {
    const task = await it.create()
    if (task instanceof Refusal) throw new Error(task.message)
    return task
  }
  const losses = async () => (await listLosses(it.engine.store.read, { limit: 10 })).items
  const lost = async () =>
    (await losses()).map(({ reason, quantity, amountNanos, isEstimate }) => [
      reason,
      quantity,
      amountNanos,
      isEstimate,
    ])
  const pollDue = async (ms: number): Promise<number> => {
    it.clock.ms += ms
    return pollOnce(it.engine)
  }
  /** Past its lifetime, and abandoned. */
  const outlived = async (): Promise<Task> => {
    const task = await create()
    it.clock.ms += dayMs + 1
    await it.advance()
    expect(await it.row(task.id)).toMatchObject({
      state: 'failed',
      error: { code: 'upstream_timeout' },
    })
    return task
  }

  test('and succeed late cost the operator what their caller would have paid', async () => {
    const task = await outlived()
    const before = await it.row(task.id)
    it.script.check = () => succeeded(4)
    expect(await pollDue(9 * minuteMs)).toBe(0)
    expect(await pollDue(minuteMs)).toBe(1)
    expect(await losses()).toMatchObject([
      {
        ref: task.id,
        reason: 'late_success',
        upstreamId: task.upstreamId!,
        channel: task.channel,
        model: task.model,
        unit: 'video_second',
        quantity: 4,
        amountNanos: 4n * secondNanos,
        isEstimate: false,
      },
    ])
    const { timeline = '' } = await it.row(task.id)
    expect(timeline).toStartWith(before.timeline!)
    // No cost of the channel is declared.
    const { costNanos: _, ...known } = before
    expect(await it.row(task.id)).toEqual({ ...known, timeline })
    expect((await it.booked(task.id)).map(([kind]) => kind)).toEqual(['hold', 'release'])
    expect(await pollDue(30 * dayMs)).toBe(0)
    expect(await losses()).toHaveLength(1)
  })

  test('and succeed late have the cost of their upstream, once, and no charge', async () => {
    const { engine } = it
    const task = await outlived()
    // Half of the price.
    const factors = new Map([[task.channel, 500_000_000n]])
    const empty = createPriceBook([], new Set(), () => it.clock.ms)
    const book = { versions: empty, prices: engine.prices, hasVersions: false, factors }
    engine.costs = createCostBook({ ...book, exchange: new Map(), currency: 'CNY' })
    it.script.check = () => succeeded(4)
    it.clock.ms += 10 * minuteMs
    await Promise.all([pollOnce(engine), pollOnce(engine)])
    expect((await it.row(task.id)).costNanos).toBe(2n * secondNanos)
    const atMs = it.clock.ms - (it.clock.ms % dayMs)
    const by = ['account', 'model', 'channel'] as const
    const span = { fromMs: atMs - dayMs, untilMs: atMs + dayMs, withCosts: true }
    for (const sum of [sumDays, sumWork]) {
      const wanted = sum === sumDays ? by.slice(0, 2) : by
      const { total, rows } = await sumUsage(engine.store.read, { ...span, by: wanted }, sum)
      const cost = formatNanos(2n * secondNanos)
      expect(total).toMatchObject({ charges: 0, amount: '0.00', cost, margin: `-${cost}` })
      expect(rows).toHaveLength(1)
      if (sum === sumWork) expect(rows[0]!.channel).toBe(task.channel)
    }
  })

  test('and fail late cost nobody anything, and are not looked for again', async () => {
    await outlived()
    it.script.check = () => failed()
    expect(await pollDue(10 * minuteMs)).toBe(1)
    expect(await pollDue(30 * dayMs)).toBe(0)
    expect(await losses()).toEqual([])
  })

  test('are looked for five times in three days', async () => {
    await outlived()
    const answers = [
      says({ state: 'running' }),
      { kind: 'failed', error: anError() } as const,
      says({ state: 'missing' }),
    ]
    it.script.check = () => answers[it.script.checks % 3]!
    const checks = it.script.checks
    for (const ms of [10 * minuteMs, 50 * minuteMs, 5 * hourMs, 18 * hourMs, 2 * dayMs]) {
      expect(await pollDue(ms - 1)).toBe(0)
      expect(await pollDue(1)).toBe(1)
    }
    expect(it.script.checks - checks).toBe(5)
    expect(await pollDue(30 * dayMs)).toBe(0)
    expect(await losses()).toEqual([])
  })

  test('are looked for again when the gateway that looked was cut off', async () => {
    await outlived()
    it.clock.ms += 10 * minuteMs
    it.script.check = () => {
      throw new Error('killed')
    }
    expect(await pollOnce(it.engine)).toBe(1)
    it.script.check = () => succeeded(5)
    expect(await pollDue(15 * minuteMs)).toBe(1)
    expect(await lost()).toEqual([['late_success', 5, 5n * secondNanos, false]])
  })

  test('are written down once by two gateways that look at the same time', async () => {
    await outlived()
    it.script.check = () => succeeded(5)
    it.clock.ms += 10 * minuteMs
    const taken = await Promise.all([pollOnce(it.engine), pollOnce(it.engine)])
    expect(taken.toSorted()).toEqual([0, 1])
    expect(await losses()).toHaveLength(1)
  })

  test('because their upstream forgot them may come back', async () => {
    const task = await create()
    it.script.check = () => says({ state: 'missing' })
    for (let poll = 0; poll < 30 && (await it.row(task.id)).state !== 'failed'; poll++) {
      await it.tick()
    }
    expect((await it.row(task.id)).error?.code).toBe('upstream_task_lost')
    it.script.check = () => succeeded()
    expect(await pollDue(10 * minuteMs)).toBe(1)
    // Nothing was reported: the requested amount counts, as an estimate.
    expect(await lost()).toEqual([['late_success', 5, 5n * secondNanos, true]])
  })

  describe('because nobody knew of their create', () => {
    const unknown = async (): Promise<Task> => {
      it.script.start = () => ({ kind: 'unknown', error: anError('cut off') })
      await it.create()
      it.clock.ms += 2 * hourMs
      await it.advance()
      const task = await it.single()
      expect(task).toMatchObject({ state: 'failed', error: { code: 'upstream_outcome_unknown' } })
      return task
    }

    test('are found late where their upstream lists tasks', async () => {
      it.script.find = () => ({ kind: 'found', upstreamIds: [], by: 'marker' })
      const { id } = await unknown()
      expect(await losses()).toEqual([])
      expect(await pollDue(10 * minuteMs)).toBe(1)
      it.script.find = () => ({ kind: 'found', upstreamIds: ['up-1', 'up-2'], by: 'marker' })
      it.script.check = () => succeeded(5)
      expect(await pollDue(50 * minuteMs)).toBe(1)
      expect(await losses()).toMatchObject([
        { ref: id, reason: 'unknown_create', quantity: 5 },
        { ref: id, reason: 'unknown_create', quantity: 5 },
      ])
      expect((await losses()).map(({ upstreamId }) => upstreamId).toSorted()).toEqual([
        'up-1',
        'up-2',
      ])
      expect(await it.row(id)).toMatchObject({ state: 'failed', chargeNanos: 0n })
    })

    test('are a guess where it does not', async () => {
      const { id, channel } = await unknown()
      expect(await losses()).toMatchObject([
        { ref: id, channel, reason: 'unknown_create', amountNanos: 5n * secondNanos },
      ])
      expect((await losses())[0]).toMatchObject({ isEstimate: true })
      expect(await pollDue(30 * dayMs)).toBe(0)
    })
  })

  test('because they were done without a result are the operator’s at once', async () => {
    const task = await create()
    it.script.check = () =>
      says({ state: 'succeeded', media: [], usage: { outputSeconds: 5 }, raw: {} })
    for (let poll = 0; poll < 5; poll++) await it.tick()
    expect((await it.row(task.id)).error?.code).toBe('no_output')
    expect(await lost()).toEqual([['not_delivered', 5, 5n * secondNanos, false]])
    expect(await pollDue(30 * dayMs)).toBe(0)
  })

  test('second tasks of one create are the operator’s, the first is the caller’s', async () => {
    it.script.start = () => ({
      kind: 'started',
      upstreamId: 'first',
      upstreamRequestId: undefined,
      otherIds: ['second', 'third'],
    })
    it.script.check = () => succeeded(5)
    const { id } = await create()
    await it.tick()
    expect(await it.row(id)).toMatchObject({ state: 'succeeded', chargeNanos: 5n * secondNanos })
    expect(
      (await losses()).map(({ reason, upstreamId }) => [reason, upstreamId]).toSorted(),
    ).toEqual([
      ['second_task', 'second'],
      ['second_task', 'third'],
    ])
  })

  test('second tasks of a create that was found are the operator’s too', async () => {
    it.script.start = () => ({ kind: 'unknown', error: anError('cut off') })
    it.script.find = () => ({ kind: 'found', upstreamIds: ['up-1', 'up-2'], by: 'marker' })
    await it.create()
    await it.advance()
    expect(await it.single()).toMatchObject({ state: 'queued', upstreamId: 'up-1' })
    expect((await losses()).map(({ reason, upstreamId }) => [reason, upstreamId])).toEqual([
      ['second_task', 'up-2'],
    ])
  })

  test('whose upstream said that they failed, or that were refused, cost nobody anything', async () => {
    it.script.check = () => failed()
    await create()
    await it.tick()
    it.script.start = () => ({ kind: 'refused', error: anError('no') })
    await it.create()
    expect([await losses(), await pollDue(30 * dayMs)]).toEqual([[], 0])
  })
})
