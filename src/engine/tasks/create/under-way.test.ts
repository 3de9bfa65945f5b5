// A create that another gateway is sending, and one after its gateway is gone.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../contract/errors.ts'
import type { Started } from '../../../contract/provider.ts'
import { storeKinds } from '../../../store/test-stores.ts'
import { newTaskEngine, type TaskEngine } from '../test-task-engine.ts'

const minute = 60_000
const key = { path: '/v1/videos', key: 'key-1' }

describe.each(storeKinds)('a create under way at another gateway, on %s', (on) => {
  let it: TaskEngine
  let alive: Set<string>
  let answer: PromiseWithResolvers<Started>
  beforeEach(async () => {
    it = await newTaskEngine(on)
    alive = new Set(['gwy_a', 'gwy_b'])
    answer = Promise.withResolvers<Started>()
    it.script.start = () => answer.promise
  })
  afterEach(() => it.close())
  const gateway = (id: string) => it.other(id, (each) => alive.has(each))
  const ask = async (at: string) => {
    const made = await it.createAs(it.token, {}, key, gateway(at))
    return made instanceof Refusal ? made.code : made.replayed
  }
  const begin = async () => {
    const asked = it.createAs(it.token, {}, key, gateway('gwy_a'))
    while (it.script.starts === 0) await Bun.sleep(5)
    return { asked, task: await it.single() }
  }

  test('is left alone while that one lives, however the time is told here', async () => {
    const { asked, task } = await begin()
    for (const ms of [5, 12, 14]) {
      it.clock.ms = task.createdAtMs + ms * minute
      expect(await it.advance(gateway('gwy_b'))).toBe(1)
      expect(await it.single()).toMatchObject({ state: 'accepted', awaitedBy: 'gwy_a' })
    }
    expect(await ask('gwy_b')).toBe('idempotency_in_flight')
    answer.resolve({ kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined })
    expect(await asked).toMatchObject({ replayed: false })
    expect(await it.single()).toMatchObject({ state: 'queued', upstreamId: 'up-1' })
    expect(await ask('gwy_b')).toBe(true)
  })

  test('is not waited for for ever, even if that one lives', async () => {
    const { task } = await begin()
    it.clock.ms = task.createdAtMs + 16 * minute
    await it.advance(gateway('gwy_b'))
    expect(await it.single()).toMatchObject({ state: 'failed' })
  })

  test('is of unknown outcome at once when that one is gone, and never sent again', async () => {
    await begin()
    expect(await ask('gwy_b')).toBe('idempotency_in_flight')
    alive.delete('gwy_a')
    expect(await ask('gwy_b')).toBe('upstream_outcome_unknown')
    const lost = await it.single()
    expect(lost).toMatchObject({ state: 'unknown' })
    expect(lost.awaitedBy).toBeUndefined()
    expect(await ask('gwy_b')).toBe('upstream_outcome_unknown')
    it.script.find = () => ({ kind: 'found', upstreamIds: ['up-7'], by: 'marker' })
    await it.advance(gateway('gwy_b'))
    expect(await it.single()).toMatchObject({ state: 'queued', upstreamId: 'up-7' })
    expect(await ask('gwy_b')).toBe(true)
    expect(it.script.starts).toBe(1)
  })

  test('is looked for by whoever looks after tasks when that one is gone', async () => {
    const { task } = await begin()
    alive.delete('gwy_a')
    it.clock.ms = task.createdAtMs + 5 * minute
    await it.advance(gateway('gwy_b'))
    expect(await it.single()).toMatchObject({ state: 'unknown' })
  })

  test('of which the answer was heard by nobody is of unknown outcome at its own gateway', async () => {
    await begin()
    expect(await ask('gwy_a')).toBe('upstream_outcome_unknown')
    expect(it.script.starts).toBe(1)
  })
})
