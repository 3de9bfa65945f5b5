// An upstream's reply is stored even when the store fails at that moment.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { Started } from '../../contract/provider.ts'
import type { Store } from '../../store/index.ts'
import { retryWrite } from './retry-write.ts'
import { anError, newTaskEngine, type TaskEngine } from './test-task-engine.ts'

/** `refuse` writes nothing; `lose` writes and then reports a failure. */
type Fault = 'refuse' | 'lose'

/** A store that fails the next writes. */
function failing(store: Store, faults: Fault[]): Store {
  return {
    dialect: store.dialect,
    clock: store.clock,
    read: store.read,
    record: (call) => store.record(call),
    snapshot: () => store.snapshot(),
    close: () => store.close(),
    get healthy() {
      return store.healthy
    },
    async tx(work) {
      const fault = faults.shift()
      if (fault === 'refuse') throw new Error('the disk said no')
      const result = await store.tx(work)
      if (fault === 'lose') throw new Error('the answer was lost')
      return result
    },
  }
}

describe('what the upstream said about a create', () => {
  let it: TaskEngine
  beforeEach(async () => {
    it = await newTaskEngine('sqlite')
  })
  afterEach(() => it.close())

  const started: Started = { kind: 'started', upstreamId: 'up-1', upstreamRequestId: undefined }
  const lost: Started = { kind: 'unknown', error: anError('nothing came back') }

  test.each<[Fault, Started, string]>([
    ['refuse', started, 'queued'],
    ['lose', started, 'queued'],
    ['refuse', lost, 'unknown'],
    ['lose', lost, 'unknown'],
  ])('is kept when the store would %s it once (%j)', async (fault, said, state) => {
    const faults: Fault[] = []
    it.script.start = () => {
      faults.push(fault)
      return said
    }
    const through = { ...it.engine, store: failing(it.engine.store, faults) }
    const made = await it.createAs(it.token, {}, undefined, through)
    expect(made instanceof Refusal ? made.code : made.task.state).toBe(
      state === 'queued' ? 'queued' : 'upstream_outcome_unknown',
    )
    expect(faults).toEqual([])
    expect((await it.single()).state).toBe(state as 'queued')
  })
})

test('a write that can never be made is given up', async () => {
  let tries = 0
  const write = async () => {
    tries++
    throw new Error('never')
  }
  const failed = await retryWrite({ store: { healthy: true } as Store }, write).catch(String)
  expect([failed, tries]).toEqual(['Error: never', 3])
})

test('a conflict is an answer, not trouble', async () => {
  let tries = 0
  const write = async () => {
    tries++
    throw Object.assign(new Error('there is one'), { code: '23505' })
  }
  const failed = await retryWrite({ store: { healthy: false } as Store }, write).catch(String)
  expect([failed, tries]).toEqual(['Error: there is one', 1])
})
