// Task time-outs that the operator has set.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Task } from '../../../contract/task.ts'
import { fileWith } from '../../test-engine.ts'
import { anError, newTaskEngine, says, type TaskEngine } from '../test-task-engine.ts'
import { taskTimeoutsOf } from './task-timeouts.ts'

let it: TaskEngine
beforeEach(async () => {
  it = await newTaskEngine('sqlite')
})
afterEach(() => it.close())

const declare = (tasks: object) => {
  it.engine.declared = { ...it.engine.declared, file: fileWith({ tasks }) }
}

/** Moves the clock in steps until the task has ended; returns its age then. */
async function ageAtEnd(id: string): Promise<number> {
  for (let step = 0; step < 500; step++) {
    const row = await it.row(id)
    if (row.state === 'failed') return row.finishedAtMs! - row.createdAtMs
    it.clock.ms += 1_000
    await it.advance()
  }
  throw new Error('it lives on')
}

test('left out, the usual times hold', () => {
  const [minute, hour] = [60_000, 3_600_000]
  const usual = { lifetimeMs: 24 * hour, unknownMs: 15 * minute, lostAfterMs: 10 * minute }
  expect(taskTimeoutsOf(it.engine)).toEqual(usual)
  declare({ lost_after: '90s' })
  expect(taskTimeoutsOf(it.engine)).toEqual({ ...usual, lostAfterMs: 90_000 })
})

test('a task that takes longer than its lifetime is given up', async () => {
  declare({ lifetime: '1m' })
  const { id } = (await it.create()) as Task
  const age = await ageAtEnd(id)
  expect([age > 60_000, age < 120_000]).toEqual([true, true])
})

test('a task that is missing at its upstream is given up after the declared time', async () => {
  declare({ lost_after: '40s' })
  it.script.check = () => says({ state: 'missing' })
  const { id } = (await it.create()) as Task
  const age = await ageAtEnd(id)
  expect([age >= 40_000, age < 120_000]).toEqual([true, true])
})

test('a create that nobody answered is given up at the declared age', async () => {
  declare({ unknown_for: '5s' })
  it.script.start = () => ({ kind: 'unknown', error: anError('cut off') })
  await it.create()
  const age = await ageAtEnd((await it.single()).id)
  expect([age > 5_000, age < 30_000]).toEqual([true, true])
})
