// A create repeated under its key: the answer to the second request, and that nothing is made, sent
// or held twice.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Created } from '../../../contract/caller-api.ts'
import type { Token } from '../../../contract/catalog.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { Started } from '../../../contract/provider.ts'
import type { VideoRequest } from '../../../contract/task.ts'
import { findCreate } from '../../../store/tasks/create-keys.ts'
import { listTaskRows } from '../../../store/tasks/list-tasks.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'
import { storeKinds, until } from '../../../store/test-stores.ts'
import {
  anError,
  newTaskEngine,
  secondNanos,
  succeeded,
  type TaskEngine,
} from '../test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: repeated creates on PostgreSQL (set TEST_POSTGRES_URL)')
}

const day = 24 * 3600_000
const holdNanos = 5n * secondNanos
const path = '/v1/videos'

describe.each([...storeKinds])('a create that is asked again on %s', (on) => {
  let it: TaskEngine

  beforeEach(async () => {
    it = await newTaskEngine(on)
  })
  afterEach(() => it.close())

  const create = (more: Partial<VideoRequest> = {}, key = 'key-1', as: Token = it.token) =>
    it.createAs(as, more, { path, key })
  const made = async (more?: Partial<VideoRequest>, key?: string): Promise<Created> => {
    const result = await create(more, key)
    if (result instanceof Refusal) throw new Error(`${result.code}: ${result.message}`)
    return result
  }
  const refused = async (more?: Partial<VideoRequest>, key?: string): Promise<Refusal> => {
    const result = await create(more, key)
    if (!(result instanceof Refusal)) throw new Error('it was not refused')
    return result
  }
  /** Refused for now, or given the first one's answer. */
  const isRepeat = (each: Created | Refusal) =>
    each instanceof Refusal ? each.code === 'idempotency_in_flight' : each.replayed
  const rows = async () => (await listTaskRows(it.engine.store.read, { limit: 100 })).items

  test('gets the task as it was first answered, whatever has become of it', async () => {
    const first = await made()
    expect(first.replayed).toBe(false)
    const early = await made()
    expect(early).toEqual({ task: first.task, replayed: true })
    it.script.check = () => succeeded(5)
    await it.tick()
    expect((await it.row(first.task.id)).state).toBe('succeeded')
    const late = await made()
    const { updatedAtMs, nextCheckAtMs, checks, timeline = '' } = late.task
    expect(late.task).toEqual({ ...first.task, updatedAtMs, nextCheckAtMs, checks, timeline })
    expect(it.script.starts).toBe(1)
    expect(await it.booked(first.task.id)).toHaveLength(3)
  })

  test('gets it also when its caller has put it away', async () => {
    const { task } = await made()
    it.script.check = () => succeeded(5)
    await it.tick()
    const ended = await it.row(task.id)
    await it.engine.store.tx((tx) => updateTask(tx, { ...ended, hidden: true }, 'succeeded'))
    expect((await made()).task).toMatchObject({ id: task.id, state: 'queued', hidden: false })
  })

  test('is refused when it asks for something else', async () => {
    await made()
    for (const more of [{ prompt: 'a dog' }, { seconds: 6 }, { seed: 1 }]) {
      expect(await refused(more)).toMatchObject({ code: 'idempotency_mismatch', status: 422 })
    }
    expect(it.script.starts).toBe(1)
    expect((await made()).replayed).toBe(true)
  })

  test('tells apart pictures that are not kept', async () => {
    const image = (letter: string) => ({
      media: [{ kind: 'image', url: `data:image/png;base64,${letter.repeat(10_000)}` }] as const,
    })
    await made(image('A'))
    expect((await made(image('A'))).replayed).toBe(true)
    expect((await refused(image('B'))).code).toBe('idempotency_mismatch')
  })

  test('compares the words of a native request, not what was worked out from them', async () => {
    const native = (text: string, estimatedTokens: number) => ({
      native: { body: { content: [{ type: 'text', text }] }, estimatedTokens },
    })
    const first = await it.createAs(it.token, native('a', 1), { path, key: 'n' })
    expect(first).toMatchObject({ replayed: false })
    expect((await made(native('a', 2), 'n')).replayed).toBe(true)
    expect((await refused(native('b', 1), 'n')).code).toBe('idempotency_mismatch')
  })

  test('waits while the first is being sent', async () => {
    const answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
    const first = made()
    await until(() => it.script.starts === 1)
    expect(await refused()).toMatchObject({
      code: 'idempotency_in_flight',
      status: 409,
      extras: { retryAfterSeconds: 1 },
    })
    expect((await refused({ prompt: 'a dog' })).code).toBe('idempotency_mismatch')
    answer.resolve({ kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined })
    const { task } = await first
    expect(await made()).toEqual({ task, replayed: true })
  })

  test.each(['upstream_invalid_request', 'upstream_error'] as const)(
    'is a first one again after the upstream refused it with %s',
    async (code) => {
      const error = { ...anError('not this one'), code, upstreamRequestId: 'up-req-1' }
      it.script.start = () => ({ kind: 'refused', error })
      await refused()
      const again = await refused()
      expect(again.code).toBe(code)
      expect(again.extras).toEqual({ upstreamRequestId: 'up-req-1' })
      expect(it.script.starts).toBe(2)
    },
  )

  test('hears that the outcome is unknown, and of the task once it has been found', async () => {
    it.script.start = () => ({ kind: 'unknown', error: anError('nothing came back') })
    const first = await refused()
    const again = await refused()
    expect([again.code, again.message]).toEqual([first.code, first.message])
    const lost = await it.single()
    expect(again.extras.replayOf).toBe(lost.requestId)
    const found = { ...lost, state: 'running', upstreamId: 'up-1', progress: 30 } as const
    await it.engine.store.tx((tx) => updateTask(tx, found, 'unknown'))
    const { task, replayed } = await made()
    expect(replayed).toBe(true)
    expect(task).toMatchObject({ id: lost.id, upstreamId: 'up-1', state: 'queued', progress: 0 })
    expect(task.error).toBeUndefined()
    expect(it.script.starts).toBe(1)
  })

  test('still hears it when the task has been given up', async () => {
    it.script.start = () => ({ kind: 'unknown', error: anError('nothing came back') })
    await refused()
    const { id, createdAtMs } = await it.single()
    it.clock.ms = createdAtMs + day
    await it.advance()
    expect((await it.row(id)).state).toBe('failed')
    const again = await refused()
    expect(again.code).toBe('upstream_outcome_unknown')
    expect(again.message).toContain(id)
    expect(it.script.starts).toBe(1)
  })

  test('is a first one after a refusal that made nothing', async () => {
    const poor = await it.open('poor', holdNanos - 1n)
    const first = await create({}, 'key-1', poor)
    expect(first).toMatchObject({ code: 'insufficient_quota' })
    await it.engine.ledger.credit(poor.accountId, holdNanos, { ref: 'more', atMs: 1 }).commit()
    expect(await create({}, 'key-1', poor)).toMatchObject({ replayed: false })
  })

  test('is another one for another account, path or key', async () => {
    const other = await it.open('other', 10n * holdNanos)
    const all = [
      await made(),
      await create({}, 'key-1', other),
      await create({}, 'key-2'),
      await it.createAs(it.token, {}, { path: '/elsewhere', key: 'key-1' }),
    ]
    expect(all.map((each) => 'replayed' in each && each.replayed)).toEqual(all.map(() => false))
    expect(it.script.starts).toBe(4)
  })

  test('is a first one after thirty days', async () => {
    const { task } = await made()
    it.clock.ms = task.createdAtMs + 30 * day
    expect(await made()).toMatchObject({ replayed: true, task: { id: task.id } })
    it.clock.ms++
    const second = await made()
    expect(second.replayed).toBe(false)
    expect(second.task.id).not.toBe(task.id)
    expect(await made()).toMatchObject({ replayed: true, task: { id: second.task.id } })
  })

  test('is made once, however many ask at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => create()))
    const fresh = all.filter((each) => 'replayed' in each && !each.replayed)
    expect(fresh).toHaveLength(1)
    expect(all.filter((each) => !fresh.includes(each) && !isRepeat(each))).toEqual([])
    expect([it.script.starts, (await rows()).length]).toEqual([1, 1])
  })

  test('is made once by gateways that know nothing of each other', async () => {
    const before = await it.money()
    const ask = (gatewayId: number) =>
      it.createAs(
        it.token,
        {},
        { path, key: 'key-1' },
        it.other(`gwy_${gatewayId}`, () => true),
      )
    const all = await Promise.all(Array.from({ length: 20 }, (_, id) => ask(id)))
    const fresh = all.filter((each) => 'replayed' in each && !each.replayed)
    expect([fresh.length, it.script.starts, (await rows()).length]).toEqual([1, 1, 1])
    expect(all.filter((each) => !fresh.includes(each) && !isRepeat(each))).toEqual([])
    // A conflict is a known outcome: the account stays usable.
    expect(it.engine.ledger.usable(it.token.accountId)).toBe(true)
    const [balance] = before.stored
    expect(await it.money()).toEqual({
      stored: [balance!, holdNanos],
      memory: [balance!, holdNanos],
    })
  })

  test('is not told that the money is gone which the first one holds', async () => {
    const exact = await it.open('exact', holdNanos)
    const all = await Promise.all(Array.from({ length: 10 }, () => create({}, 'key-1', exact)))
    const codes = all.flatMap((each) => (each instanceof Refusal ? [each.code] : []))
    expect(codes.filter((code) => code !== 'idempotency_in_flight')).toEqual([])
    expect(await create({}, 'key-1', exact)).toMatchObject({ replayed: true })
    expect(await create({}, 'key-2', exact)).toMatchObject({ code: 'insufficient_quota' })
  })

  test('leaves no old keys behind for ever', async () => {
    await made()
    const name = { accountId: it.token.accountId, path, key: 'key-1' }
    it.clock.ms += 31 * day
    const kept = () => findCreate(it.engine.store.read, name, 0)
    await made({}, 'key-2')
    expect(await kept()).toBeDefined()
    const lucky = { ...it.engine, random: () => 0 }
    await it.createAs(it.token, {}, { path, key: 'key-3' }, lucky)
    await until(async () => (await kept()) === undefined)
  })
})
