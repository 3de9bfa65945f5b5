// The timeline of a task: every state and every poll, written in the same transaction as the
// change, whatever the outcome.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { Started } from '../../contract/provider.ts'
import type { Task } from '../../contract/task.ts'
import { readTimeline } from '../../contract/timeline.ts'
import { updateTask } from '../../store/tasks/tasks.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { cancelTask, hideTask } from './cancel-task.ts'
import { pollOnce } from './poll/abandoned-checks.ts'
import {
  anError,
  failed,
  newTaskEngine,
  says,
  succeeded,
  type TaskEngine,
} from './test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: trails on PostgreSQL (set TEST_POSTGRES_URL)')
}

const dayMs = 24 * 3_600_000

describe.each([...storeKinds])('the trail of a task on %s', (on) => {
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
  const steps = async (id?: string) => {
    const { timeline = '', createdAtMs } = await it.row(id ?? (await it.single()).id)
    return readTimeline(timeline, createdAtMs).map(({ kind, state, progress, times, note }) =>
      [kind, state, progress, ...(times > 1 ? [`x${times}`] : []), note ?? ''].join(' ').trim(),
    )
  }

  test('tells every state and look from its create to its end', async () => {
    const { id } = await create()
    it.script.check = () => says({ state: 'queued' })
    await it.tick()
    await it.tick()
    it.script.check = () => says({ state: 'running', progress: 40 })
    for (let i = 0; i < 14; i++) await it.tick()
    it.script.check = () => says({ state: 'running', progress: 70, unknownStatus: 'COOKING' })
    await it.tick()
    it.script.check = () => succeeded(5)
    await it.tick()
    expect(await steps(id)).toEqual([
      'created accepted 0',
      'sent queued 0',
      'polled queued 0 x2',
      'polled running 40 x14',
      'polled running 70 COOKING',
      'ended succeeded 100',
    ])
  })

  test('tells why looks failed, in words without secrets, and what was doubted', async () => {
    const { id } = await create()
    const secret = 'Bearer sk-secret0123456789abcdefghij'
    it.script.check = () => ({ kind: 'failed', error: anError(`key ${secret} at 10.0.0.1 broke`) })
    await it.tick()
    await it.tick()
    it.script.check = () => says({ state: 'missing' })
    await it.tick()
    it.script.check = () => says({ state: 'succeeded', media: [], usage: {}, raw: {} })
    await it.tick()
    it.script.check = () => failed('no such style')
    await it.tick()
    const all = await steps(id)
    expect(all.map((step) => step.replace(/upstream_error: .*/, '…'))).toEqual([
      'created accepted 0',
      'sent queued 0',
      'poll_failed queued 0 x2 …',
      'not_found queued 0',
      'no_output queued 0',
      'ended failed 0 …',
    ])
    expect(all[2]).toContain('broke')
    expect(all[5]).toContain('no such style')
    expect(JSON.stringify(all)).not.toMatch(/secret0123|10\.0\.0\.1/)
  })

  test('tells of a create that was cut off, looked for and found', async () => {
    it.script.start = () => ({ kind: 'unknown', error: anError('cut off') })
    await it.create()
    it.script.find = () => ({ kind: 'failed', error: anError() })
    await it.tick()
    it.script.find = () => ({ kind: 'found', by: 'marker', upstreamIds: [] })
    await it.tick()
    it.script.find = () => ({ kind: 'found', by: 'marker', upstreamIds: ['up-1'] })
    await it.tick()
    expect(await steps()).toEqual([
      'created accepted 0',
      'lost unknown 0 cut off',
      'search_failed unknown 0',
      'search unknown 0',
      'found queued 0',
    ])
  })

  test('loses nothing when the answer to a create comes after all hope was given up', async () => {
    const { promise, resolve } = Promise.withResolvers<Started>()
    it.script.start = () => promise
    const asked = it.create()
    while (it.script.starts === 0) await Bun.sleep(5)
    it.forget()
    await it.tick()
    resolve({ kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined })
    await asked
    expect(await it.single()).toMatchObject({ state: 'queued', upstreamId: 'up-1' })
    expect((await steps()).map((step) => step.split(' ', 2).join(' '))).toEqual([
      'created accepted',
      'lost unknown',
      'sent queued',
    ])
  })

  test('tells what a refused create was refused for', async () => {
    it.script.start = () => ({ kind: 'refused', error: anError('too many') })
    await it.create()
    expect(await steps()).toEqual(['created accepted 0', 'ended failed 0 upstream_error: too many'])
  })

  test('tells who called it off', async () => {
    const { id } = await create()
    await cancelTask(it.engine, await it.row(id))
    expect((await steps(id)).slice(2)).toEqual([
      'cancel_requested queued 0 operator',
      'ended cancelled 0',
    ])
  })

  test('goes on after it was given up, and is not touched by who puts the task away', async () => {
    const { id } = await create()
    it.script.check = () => says({ state: 'running', progress: 20 })
    it.clock.ms += dayMs + 1
    await it.advance()
    it.script.check = () => ({ kind: 'failed', error: anError() })
    it.clock.ms += 3_600_000
    await pollOnce(it.engine)
    await hideTask(it.engine, it.token, id)
    it.script.check = () => succeeded(5)
    it.clock.ms += dayMs
    await pollOnce(it.engine)
    expect(await steps(id)).toEqual([
      'created accepted 0',
      'sent queued 0',
      'polled queued 0',
      'ended failed 0 upstream_timeout: the upstream did not finish in time',
      'late_poll_failed failed 0',
      'late_poll failed 0 succeeded',
    ])
    expect((await it.row(id)).hidden).toBe(true)
  })

  test('begins with what is seen next where an older release kept none', async () => {
    const { id } = await create()
    const { timeline: _, ...old } = await it.row(id)
    await it.engine.store.tx((tx) => tx.updateTable('tasks').set({ timeline: null }).execute())
    await it.engine.store.tx((tx) => updateTask(tx, old as Task, 'queued'))
    await it.tick()
    expect(await steps(id)).toEqual(['polled running 30'])
  })
})
