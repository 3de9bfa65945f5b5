// A create from the caller's input to the row, the hold and the answer.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../contract/errors.ts'
import type { Started } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { failureOf, storeKinds, until } from '../../../store/test-stores.ts'
import { anError, newTaskEngine, secondNanos, type TaskEngine } from '../test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: creating tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const minute = 60_000
const opening = 100_000_000_000n
const holdNanos = 5n * secondNanos
const lostOnTheWay: Started = { kind: 'unknown', error: anError('nothing came back') }

describe.each([...storeKinds])('a create on %s', (on) => {
  let it: TaskEngine

  beforeEach(async () => {
    it = await newTaskEngine(on, opening)
  })
  afterEach(() => it.close())

  const refused = async (): Promise<Refusal> => {
    const result = await it.create()
    if (!(result instanceof Refusal)) throw new Error('it was not refused')
    return result
  }
  const made = async (): Promise<Task> => {
    const result = await it.create()
    if (result instanceof Refusal) throw new Error(result.message)
    return result
  }

  test('that was accepted is queued under the upstream id, with its hold', async () => {
    const task = await made()
    expect(task.state).toBe('queued')
    expect(await it.row(task.id)).toEqual(task)
    expect(await it.row(task.upstreamId!)).toEqual(task)
    expect(await it.booked(task.id)).toEqual([['hold', -holdNanos]])
    expect(await it.money()).toEqual({ stored: [opening, holdNanos], memory: [opening, holdNanos] })
    expect(it.script.starts).toBe(1)
  })

  test('has its row and its hold before the upstream hears of it', async () => {
    const steps: unknown[] = []
    it.script.start = async () => {
      const task = await it.single()
      steps.push(task.state, await it.booked(task.id))
      return { kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined }
    }
    await made()
    expect(steps).toEqual(['accepted', [['hold', -holdNanos]]])
  })

  test('that the account cannot pay for sends nothing and leaves nothing', async () => {
    const poor = await it.open('poor', holdNanos - 1n)
    expect(await it.create({}, poor)).toMatchObject({ code: 'insufficient_quota' })
    expect(it.script.starts).toBe(0)
    expect(await failureOf(it.single())).toBe('0 tasks')
    const enough = await it.open('enough', holdNanos)
    expect(await it.create({}, enough)).toMatchObject({ state: 'queued' })
    expect(await it.create({}, enough)).toMatchObject({ code: 'insufficient_quota' })
    expect(it.script.starts).toBe(1)
  })

  test('spends the same money once, however many ask at the same time', async () => {
    const token = await it.open('busy', 3n * holdNanos)
    const all = await Promise.all(Array.from({ length: 10 }, () => it.create({}, token)))
    expect(all.filter((each) => !(each instanceof Refusal))).toHaveLength(3)
    expect(it.script.starts).toBe(3)
  })

  test('that is refused has failed, costs nothing, and its caller reads why', async () => {
    const message = 'bad prompt at http://10.0.0.7/x'
    it.script.start = () => ({ kind: 'refused', error: { code: 'upstream_error', message } })
    const refusal = await refused()
    expect(refusal.code).toBe('upstream_error')
    expect(refusal.message).toContain('bad prompt')
    expect(refusal.message).not.toContain('10.0.0.7')
    const task = await it.single()
    expect(task).toMatchObject({ state: 'failed', chargeNanos: 0n, finishedAtMs: it.clock.ms })
    expect(task.error!.message).toBe(refusal.message)
    expect(await it.booked(task.id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
    ])
    expect(await it.money()).toEqual({ stored: [opening, 0n], memory: [opening, 0n] })
  })

  test.each([
    ['whose answer was lost', () => lostOnTheWay],
    [
      'in which something broke',
      () => {
        throw new Error('a bug')
      },
    ],
  ])('%s is unknown, keeps its hold and is never sent again', async (_, start) => {
    it.script.start = start
    const refusal = await refused()
    expect(refusal.code).toBe('upstream_outcome_unknown')
    const { id } = await it.single()
    expect(refusal.message).toContain(id)
    for (const afterMs of [0, 5 * minute, 15 * minute - 1]) {
      it.clock.ms = (await it.row(id)).createdAtMs + afterMs
      await it.advance()
      expect((await it.row(id)).state).toBe('unknown')
      expect(await it.booked(id)).toEqual([['hold', -holdNanos]])
    }
    await it.tick()
    await it.tick()
    expect(await it.row(id)).toMatchObject({
      state: 'failed',
      chargeNanos: 0n,
      error: { code: 'upstream_outcome_unknown' },
    })
    expect(await it.booked(id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
    ])
    expect([it.script.starts, it.script.checks]).toEqual([1, 0])
  })

  test('whose gateway died while it was sent is unknown later, then failed and free', async () => {
    it.script.start = () => new Promise(() => {})
    void it.create()
    await until(() => it.script.starts === 1)
    const { id, createdAtMs } = await it.single()
    it.clock.ms = createdAtMs + minute
    expect(await it.advance()).toBe(0)
    it.forget()
    await it.tick()
    const lost = await it.row(id)
    expect(lost).toMatchObject({ state: 'unknown', updatedAtMs: it.clock.ms })
    expect(await it.booked(id)).toEqual([['hold', -holdNanos]])
    it.clock.ms = createdAtMs + 15 * minute + 1
    await it.advance()
    expect(await it.row(id)).toMatchObject({ state: 'failed', chargeNanos: 0n })
    expect(await it.money()).toEqual({ stored: [opening, 0n], memory: [opening, 0n] })
    expect(it.script.starts).toBe(1)
  })

  test('that takes longer than anybody expects is left to the gateway that waits for it', async () => {
    const answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
    const creating = made()
    await until(() => it.script.starts === 1)
    await it.tick()
    expect(await it.single()).toMatchObject({ state: 'accepted' })
    answer.resolve({ kind: 'started', upstreamId: 'up-late', upstreamRequestId: undefined })
    const { id } = await creating
    expect(await it.row(id)).toMatchObject({ state: 'queued', upstreamId: 'up-late' })
    expect((await it.row(id)).awaitedBy).toBeUndefined()
  })

  test('whose answer comes after it was thought lost is queued all the same', async () => {
    const answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
    const creating = made()
    await until(() => it.script.starts === 1)
    it.forget()
    await it.tick()
    const { id, state } = await it.single()
    expect(state).toBe('unknown')
    answer.resolve({ kind: 'started', upstreamId: 'up-late', upstreamRequestId: undefined })
    expect(await creating).toMatchObject({ id, state: 'queued', upstreamId: 'up-late' })
    expect(await it.row('up-late')).toMatchObject({ id, state: 'queued' })
  })

  test('that is refused after it was thought lost has failed and is free', async () => {
    const answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
    const creating = it.create()
    await until(() => it.script.starts === 1)
    it.forget()
    await it.tick()
    answer.resolve({ kind: 'refused', error: anError() })
    expect(await creating).toMatchObject({ code: 'upstream_error' })
    const task = await it.single()
    expect(task.state).toBe('failed')
    expect(await it.booked(task.id)).toHaveLength(2)
    expect(it.engine.ledger.usable(it.token.accountId)).toBe(true)
  })

  test('whose answer comes after it has failed stays failed and free', async () => {
    const answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
    const creating = made()
    await until(() => it.script.starts === 1)
    const { id, createdAtMs } = await it.single()
    it.clock.ms = createdAtMs + 16 * minute
    await it.advance()
    answer.resolve({ kind: 'started', upstreamId: 'up-late', upstreamRequestId: undefined })
    expect(await creating).toMatchObject({ id, state: 'failed', chargeNanos: 0n })
    expect(await it.booked(id)).toHaveLength(2)
  })

  test('that is given the id of another task leaves that one alone', async () => {
    it.script.start = () => ({ kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined })
    const first = await made()
    expect(await it.create()).toMatchObject({ code: 'upstream_outcome_unknown' })
    expect(await it.row('up-1')).toEqual(first)
    expect((await it.money()).stored).toEqual([opening, 2n * holdNanos])
    it.clock.ms += 16 * minute
    await it.advance()
    expect((await it.money()).stored).toEqual([opening, holdNanos])
  })
})
