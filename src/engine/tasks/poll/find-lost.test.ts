// The outcome of a task after its create was cut off, by what its upstream has of it.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../contract/errors.ts'
import type { Found, LostCreate } from '../../../contract/provider.ts'
import type { Task, VideoRequest } from '../../../contract/task.ts'
import { storeKinds } from '../../../store/test-stores.ts'
import { cancelTask } from '../cancel-task.ts'
import {
  anError,
  newTaskEngine,
  secondNanos,
  succeeded,
  type TaskEngine,
} from '../test-task-engine.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: lost creates on PostgreSQL (set TEST_POSTGRES_URL)')
}

const minute = 60_000
const holdNanos = 5n * secondNanos
const found = (by: 'marker' | 'likeness', ...upstreamIds: string[]): Found => ({
  kind: 'found',
  by,
  upstreamIds,
})
const unheard: Found = { kind: 'failed', error: anError() }

describe.each([...storeKinds])('a create that was cut off on %s', (on) => {
  let it: TaskEngine

  beforeEach(async () => {
    it = await newTaskEngine(on)
  })
  afterEach(() => it.close())

  /** A create that got no reply; returns its row. */
  const lose = async (prompt = 'a cat'): Promise<Task> => {
    const usual = it.script.start
    it.script.start = () => ({ kind: 'unknown', error: anError('cut off') })
    const refused = (await it.create({ prompt })) as Refusal
    expect(refused.code).toBe('upstream_outcome_unknown')
    it.script.start = usual
    const id = /video_\w+/.exec(refused.message)![0]
    return it.row(id)
  }
  const poll = async (id: string, answer: Found): Promise<Task> => {
    it.script.find = () => answer
    await it.tick()
    return it.row(id)
  }
  const expectFree = async (id: string) => {
    expect(await it.booked(id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
    ])
  }

  test('and found goes on like any other, and is charged once', async () => {
    const lost = await lose()
    expect(lost.state).toBe('unknown')
    const back = await poll(lost.id, found('marker', 'up-1'))
    expect(back).toMatchObject({ state: 'queued', upstreamId: 'up-1', misses: 0 })
    expect(back.error).toBeUndefined()
    it.script.check = () => succeeded(5)
    await it.tick()
    expect((await it.row(lost.id)).state).toBe('succeeded')
    expect(await it.booked(lost.id)).toEqual([
      ['hold', -holdNanos],
      ['release', holdNanos],
      ['charge', -holdNanos],
    ])
    expect(it.script.starts).toBe(1)
  })

  test('is looked for by what is known of it', async () => {
    const { id, createdAtMs } = await lose()
    const asked: LostCreate<VideoRequest>[] = []
    it.script.find = (lost) => {
      asked.push(lost)
      return found('marker')
    }
    await it.tick()
    expect(asked[0]!.request.prompt).toBe('a cat')
    expect(asked[0]!.fromMs).toBe(createdAtMs - 2 * minute)
    // The channel waits a minute for an answer to begin.
    expect(asked[0]!.untilMs).toBe(createdAtMs + 3 * minute)
    expect(await it.row(id)).toMatchObject({ state: 'unknown', checks: 1 })
  })

  test('has none of the ids that other tasks have', async () => {
    const other = (await it.create({ prompt: 'a dog' })) as Task
    const { id } = await lose()
    let free: readonly string[] = []
    it.script.find = async ({ unclaimed }) => {
      free = await unclaimed([other.upstreamId!, 'up-free'])
      return found('marker')
    }
    while (free.length === 0) await it.tick()
    expect(free).toEqual(['up-free'])
    // Even when an upstream returns the id of another task.
    it.script.find = () => found('marker', other.upstreamId!)
    while ((await it.row(id)).checks < 2) await it.tick()
    expect((await it.row(id)).state).toBe('unknown')
  })

  test.each([
    ['none', found('likeness')],
    ['several that look alike', found('likeness', 'up-1', 'up-2')],
    ['no answer at first', unheard],
  ])(
    'with %s is asked for again, less and less often, then is failed and free',
    async (_, answer) => {
      const { id, createdAtMs } = await lose()
      const times: number[] = []
      it.script.find = () => {
        times.push(it.clock.ms)
        // An upstream without any reply would be waited for longer.
        return times.length > 3 ? found('likeness') : answer
      }
      while ((await it.row(id)).state === 'unknown') await it.tick()
      expect(await it.row(id)).toMatchObject({
        state: 'failed',
        error: { code: 'upstream_outcome_unknown' },
      })
      expect(times.length).toBeGreaterThan(10)
      expect(times.length).toBeLessThan(30)
      expect(times.at(-1)! - createdAtMs).toBeGreaterThan(15 * minute)
      expect(times.at(-1)! - createdAtMs).toBeLessThan(17 * minute)
      await expectFree(id)
    },
  )

  test('whose upstream cannot be asked is waited for, but not for ever', async () => {
    const { id, createdAtMs } = await lose()
    it.script.find = () => unheard
    while ((await it.row(id)).state === 'unknown') await it.tick()
    const ageMs = it.clock.ms - createdAtMs
    expect(ageMs).toBeGreaterThan(60 * minute)
    expect(ageMs).toBeLessThan(63 * minute)
    await expectFree(id)
  })

  test('is looked for although its gateway was away for long', async () => {
    const { id } = await lose()
    it.clock.ms += 24 * 60 * minute
    expect(await poll(id, found('marker', 'up-1'))).toMatchObject({ state: 'queued' })
  })

  test('that became two tasks has the first, and the other is recorded as a loss', async () => {
    const lines: string[] = []
    const warn = (msg: string, fields = {}) => lines.push(`${msg} ${JSON.stringify(fields)}`)
    Object.assign(it.engine, { log: { ...it.engine.log, warn } })
    const { id } = await lose()
    expect((await poll(id, found('marker', 'up-1', 'up-2'))).upstreamId).toBe('up-1')
    expect(lines).toEqual([expect.stringMatching(/losses.*up-2/)])
  })

  test('is not told by its looks from another that waits with the same prompt', async () => {
    const first = await lose()
    const second = await lose()
    const other = await lose('a dog')
    it.script.find = ({ request }) =>
      found('likeness', request.prompt === 'a cat' ? 'up-cat' : 'up-dog')
    for (let i = 0; i < 6; i++) await it.tick()
    expect((await it.row(first.id)).state).toBe('unknown')
    expect((await it.row(second.id)).state).toBe('unknown')
    expect((await it.row(other.id)).upstreamId).toBe('up-dog')
  })

  test('and given up is never charged, whatever its upstream made of it', async () => {
    const { id } = await lose()
    while ((await it.row(id)).state === 'unknown') await poll(id, found('marker'))
    const ended = await it.row(id)
    expect(ended.state).toBe('failed')
    it.clock.ms += 60 * minute
    it.script.check = () => succeeded(5)
    await poll(id, found('marker', 'up-late'))
    expect(await it.row(id)).toEqual(ended)
    await expectFree(id)
  })

  test('cannot be cancelled, and says why', async () => {
    const refusal = (await cancelTask(it.engine, await lose())) as Refusal
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal.code).toBe('task_not_cancellable')
    expect(refusal.message).toContain('nobody knows yet whether its upstream has it')
    expect(it.script.cancels).toBe(0)
  })
})
