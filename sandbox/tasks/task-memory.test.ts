import { expect, test } from 'bun:test'
import { readDirectives } from '../http/directives.ts'
import type { TaskIds, TaskInput } from './task-id.ts'
import { TaskMemory } from './task-memory.ts'

let calls = 0

const orderOf = (text = '', more: Partial<TaskInput> = {}): TaskInput => ({
  key: 'sk-one',
  callId: `call-${++calls}`,
  model: 'vfb-1.1-t2v',
  seconds: 5,
  resolution: '720p',
  directives: readDirectives({ text }),
  ...more,
})

const ids: TaskIds<TaskInput> = {
  protocol: 'vf',
  wrap: (letters) => `t-${letters}`,
  unwrap: (id) => id.slice(2),
  write: ({ model, seconds }, plan) => {
    plan.text(model)
    plan.whole(seconds)
  },
  read: (plan) => ({ model: plan.text(), seconds: plan.whole(), resolution: '720p' }),
}

function memoryAt(capacity?: number) {
  const clock = { taskSeconds: 10, time: 1_000, now: () => clock.time }
  return { clock, memory: new TaskMemory(clock, ids, capacity) }
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
  // Its id still tells how it was meant to go.
  expect(memory.find(first.id, 'sk-one')).toMatchObject({ endsMs: first.endsMs, polls: 0 })
})

test('what another memory made is known by its id, for every key, and is not listed', () => {
  const [{ memory: maker }, { clock, memory }] = [memoryAt(), memoryAt()]
  const made = maker.create(orderOf('[[sim:fail=content_policy]] [[sim:no-usage]]'))!
  const met = memory.find(made.id, 'sk-two')!
  expect(met).toEqual({ ...made, input: { ...made.input, key: '', callId: '' } })
  expect(memory.find(made.id, 'sk-one')).toBe(met)
  clock.time = made.endsMs
  expect(memory.poll(met)).toBe('failed')
  expect([memory.list(), memory.ofKey('sk-two'), memory.ofKey('')]).toEqual([[], [], []])
})

test('what is done to a task of another memory is remembered, for as many as fit', () => {
  const [{ memory: maker }, { clock, memory }] = [memoryAt(), memoryAt(1)]
  const [one, other] = [maker.create(orderOf('[[sim:poll=503]]'))!, maker.create(orderOf())!]
  const met = () => memory.find(one.id, 'sk-one')!
  expect([1, 2, 3].map(() => memory.trouble(met()))).toEqual([503, 503, undefined])
  expect(memory.cancel(met())).toBe(true)
  clock.time += 10_000
  expect(memory.stateOf(met())).toBe('cancelled')
  memory.find(other.id, 'sk-one')
  expect(memory.stateOf(met())).toBe('succeeded')
})

test('one that vanishes is gone from every memory at the same time', () => {
  const [{ memory: maker }, { clock, memory }] = [memoryAt(), memoryAt()]
  const { id } = maker.create(orderOf('[[sim:vanish]]'))!
  expect(memory.find(id, 'sk-one')?.id).toBe(id)
  clock.time += 2_000
  expect(memory.find(id, 'sk-one')).toBeUndefined()
})

test('a plan too large for an id stays with who made it', () => {
  const [{ memory: maker }, { memory }] = [memoryAt(), memoryAt()]
  const task = maker.create(orderOf('', { model: 'm'.repeat(200) }))!
  expect(task.id.length).toBeLessThan(40)
  expect(maker.find(task.id, 'sk-one')).toBe(task)
  expect(memory.find(task.id, 'sk-one')).toBeUndefined()
})

test('no two tasks have the same id, however alike', () => {
  const { memory } = memoryAt()
  const made = Array.from({ length: 1_000 }, () => memory.create(orderOf())!.id)
  expect(new Set(made).size).toBe(made.length)
})

test('a task is there only for the key that made it', () => {
  const { memory } = memoryAt()
  const task = memory.create(orderOf())!
  const other = memory.create(orderOf('', { key: 'sk-two' }))!
  expect(memory.find(task.id, 'sk-one')).toBe(task)
  expect(memory.find(task.id, 'sk-two')).toBeUndefined()
  expect(memory.ofKey('sk-two')).toEqual([other])
})

test('a task that vanishes is there until it should run, and then for nobody', () => {
  const { clock, memory } = memoryAt()
  const task = memory.create(orderOf('[[sim:vanish]]'))!
  clock.time += 1_999
  expect(memory.find(task.id, 'sk-one')).toBe(task)
  clock.time += 1
  expect(memory.find(task.id, 'sk-one')).toBeUndefined()
  expect(memory.ofKey('sk-one')).toEqual([])
  // The truth is kept for whoever checks the books.
  expect(memory.list()).toMatchObject([{ id: task.id, state: 'running' }])
})

test('only the first two questions about a task go wrong', () => {
  const { memory } = memoryAt()
  const task = memory.create(orderOf('[[sim:poll=503]]'))!
  expect([1, 2, 3].map(() => memory.trouble(task))).toEqual([503, 503, undefined])
  expect(memory.trouble(memory.create(orderOf())!)).toBeUndefined()
})
