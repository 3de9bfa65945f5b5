import { expect, test } from 'bun:test'
import { readDirectives } from './directives.ts'
import { TaskMemory, type TaskOrder } from './tasks.ts'

let calls = 0

const orderOf = (text = '', more: Partial<TaskOrder> = {}): TaskOrder => ({
  key: 'sk-one',
  callId: `call-${++calls}`,
  model: 'vfb-1.1-t2v',
  seconds: 5,
  resolution: '720p',
  directives: readDirectives({ text }),
  ...more,
})

function memoryAt(capacity?: number) {
  const clock = { taskSeconds: 10, time: 1_000, now: () => clock.time }
  return { clock, memory: new TaskMemory(clock, capacity) }
}

test('a task is queued for a fifth of its time, then runs, then has succeeded', () => {
  const { clock, memory } = memoryAt()
  const task = memory.create(orderOf())!
  const seen = [0, 1_999, 2_000, 9_999, 10_000, 90_000].map((ms) => {
    clock.time = 1_000 + ms
    return memory.poll(task)
  })
  expect(seen).toEqual(['queued', 'queued', 'running', 'running', 'succeeded', 'succeeded'])
})

test('a delay is how long the task takes', () => {
  const { clock, memory } = memoryAt()
  const task = memory.create(orderOf('[[sim:delay=2s]]'))!
  clock.time += 1_999
  expect(memory.stateOf(task)).toBe('running')
  clock.time += 1
  expect(memory.stateOf(task)).toBe('succeeded')
})

test('a task that flips changes its mind twice, and only when somebody asks for it', () => {
  const { clock, memory } = memoryAt()
  const task = memory.create(orderOf('[[sim:flip]]'))!
  expect(memory.poll(task)).toBe('queued')
  clock.time += 10_000
  expect(memory.list()).toMatchObject([{ state: 'succeeded', polls: 1 }])
  const told = Array.from({ length: 4 }, () => memory.poll(task))
  expect(told).toEqual(['succeeded', 'failed', 'succeeded', 'succeeded'])
})

test('only a queued task can be cancelled, and stays so', () => {
  const { clock, memory } = memoryAt()
  const [early, late] = [memory.create(orderOf())!, memory.create(orderOf('[[sim:fail]]'))!]
  expect(memory.cancel(early)).toBe(true)
  expect(memory.cancel(early)).toBe(false)
  clock.time += 5_000
  expect(memory.cancel(late)).toBe(false)
  clock.time += 5_000
  expect(memory.list().map(({ state }) => state)).toEqual(['cancelled', 'failed'])
})

test('a full memory forgets the oldest task that has ended, and takes none if all go on', () => {
  const { clock, memory } = memoryAt(3)
  const slow = memory.create(orderOf('[[sim:delay=600s]]'))!
  const [first, second] = [memory.create(orderOf())!, memory.create(orderOf())!]
  expect(memory.create(orderOf())).toBeUndefined()
  clock.time += 10_000
  const third = memory.create(orderOf())!
  expect(memory.list().map(({ id }) => id)).toEqual([slow.id, second.id, third.id])
  expect(memory.find(first.id, 'sk-one')).toBeUndefined()
})

test('a task is there only for the key that made it', () => {
  const { memory } = memoryAt()
  const task = memory.create(orderOf())!
  const other = memory.create(orderOf('', { key: 'sk-two' }))!
  expect(memory.find(task.id, 'sk-one')).toBe(task)
  expect(memory.find(task.id, 'sk-two')).toBeUndefined()
  expect(memory.ofKey('sk-two')).toEqual([other])
})
