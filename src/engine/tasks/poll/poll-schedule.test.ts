// Simulates tasks against the schedule: when each would be polled, and how late its end would be
// noticed.
import { expect, test } from 'bun:test'
import {
  afterFailureMs,
  type Durations,
  firstCheckMs,
  learnDuration,
  medianMs,
  nextCheckMs,
} from './poll-schedule.ts'

const model = 'm'
const half = () => 0.5

/** Deterministic random numbers. */
function newDice(): () => number {
  let state = 7
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 2147483648
  }
}

interface Played {
  lateMs: number[]
  polls: number[]
}

/** Tasks created evenly over a time; each poll takes 200 ms and updates the statistics. */
function play(
  durations: Durations,
  count: number,
  overMs: number,
  tookMs: (dice: () => number) => number,
): Played {
  const dice = newDice()
  const tasks = Array.from({ length: count }, (_, i) => ({
    bornMs: (overMs * i) / count,
    tookMs: tookMs(dice),
    seenMs: 0,
    polls: 0,
    lateMs: 0,
  }))
  type Planned = { atMs: number; task: (typeof tasks)[number]; isFirst: boolean }
  let planned: Planned[] = tasks.map((task) => ({ atMs: task.bornMs, task, isFirst: true }))
  const sliceMs = 200
  for (let sliceEndMs = sliceMs; planned.length > 0; sliceEndMs += sliceMs) {
    const next: Planned[] = []
    for (const plan of planned) {
      if (plan.atMs >= sliceEndMs) {
        next.push(plan)
        continue
      }
      const { task, atMs, isFirst } = plan
      if (isFirst) {
        next.push({ task, isFirst: false, atMs: atMs + firstCheckMs(durations, model) })
        continue
      }
      const ageMs = atMs + 200 - task.bornMs
      task.polls++
      if (ageMs - 100 >= task.tookMs) {
        task.lateMs = ageMs - task.tookMs
        learnDuration(durations, model, ageMs, task.seenMs)
        continue
      }
      const waitMs = nextCheckMs(durations, model, ageMs, dice, task.seenMs)
      task.seenMs = ageMs
      next.push({ task, isFirst: false, atMs: task.bornMs + ageMs + waitMs })
    }
    planned = next
  }
  return { lateMs: tasks.map((task) => task.lateMs), polls: tasks.map((task) => task.polls) }
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length
const shareWithin5s = ({ lateMs }: Played) =>
  lateMs.filter((ms) => ms <= 5_000).length / lateMs.length
const between = (minMs: number, maxMs: number) => (dice: () => number) =>
  minMs + (maxMs - minMs) * dice()

test('a burst of a model nobody knows is noticed in time with few looks', () => {
  const played = play(new Map(), 2_000, 40_000, between(45_000, 75_000))
  expect(shareWithin5s(played)).toBeGreaterThanOrEqual(0.99)
  expect(mean(played.polls)).toBeLessThan(12)
})

test.each([
  [2_000, 4_000, 4],
  [30_000, 60_000, 10],
  [60_000, 120_000, 13],
  [290_000, 320_000, 13],
])('once known, tasks of %p to %p ms take fewer than %p looks', (minMs, maxMs, polls) => {
  const durations: Durations = new Map()
  play(durations, 1_000, 600_000, between(minMs, maxMs))
  const played = play(durations, 1_000, 600_000, between(minMs, maxMs))
  expect(shareWithin5s(played)).toBeGreaterThanOrEqual(0.99)
  expect(mean(played.polls)).toBeLessThan(polls)
})

test('a model that has become faster is found out', () => {
  const durations: Durations = new Map()
  play(durations, 1_000, 600_000, between(60_000, 120_000))
  play(durations, 3_000, 600_000, between(20_000, 40_000))
  expect(shareWithin5s(play(durations, 1_000, 600_000, between(20_000, 40_000)))).toBeGreaterThan(
    0.99,
  )
})

test('what is remembered from before a restart serves the first task', () => {
  const durations: Durations = new Map()
  for (let i = 0; i < 500; i++) learnDuration(durations, model, 60_000 + i * 10)
  expect(firstCheckMs(durations, model)).toBe(10_000)
  expect(nextCheckMs(durations, model, 30_000, half)).toBeGreaterThan(15_000)
  expect(nextCheckMs(durations, model, 60_000, half)).toBeLessThan(4_000)
})

test('nothing known: the first look comes soon, and none comes at once', () => {
  expect(firstCheckMs(new Map(), model)).toBe(1_000)
  expect(nextCheckMs(new Map(), model, 1, half)).toBeGreaterThanOrEqual(1_000)
})

test('a task that never ends is looked at less and less, but for ever', () => {
  const durations: Durations = new Map()
  let ageMs = 1_000
  let polls = 0
  for (; ageMs < 24 * 3600_000; polls++) {
    const waitMs = nextCheckMs(durations, model, ageMs, half, 0)
    expect(waitMs).toBeLessThanOrEqual(120_000)
    ageMs += waitMs
  }
  expect(polls).toBeLessThan(1_500)
})

test('waits are spread by a tenth, and failures back off to a minute', () => {
  const first = (dice: number) => nextCheckMs(new Map(), model, 60_000, () => dice)
  expect(first(0) / first(0.5)).toBeCloseTo(0.9)
  expect(first(1) / first(0.5)).toBeCloseTo(1.1)
  expect([0, 1, 4, 5, 99].map((failures) => afterFailureMs(failures, half))).toEqual([
    2_000, 4_000, 32_000, 60_000, 60_000,
  ])
})

test('what is usual is said once a few have ended, and follows them', () => {
  const durations: Durations = new Map()
  expect(medianMs(durations, model)).toBeUndefined()
  learnDuration(durations, model, 40_000, 39_000)
  learnDuration(durations, model, 41_000, 40_000)
  expect(medianMs(durations, model)).toBeUndefined()
  for (let i = 0; i < 99; i++) learnDuration(durations, model, 40_000, 39_000)
  expect(medianMs(durations, model)! / 40_000).toBeCloseTo(1, 1)
  for (let i = 0; i < 400; i++) learnDuration(durations, model, 9_000, 8_900)
  expect(medianMs(durations, model)! / 9_000).toBeCloseTo(1, 1)
})

test('names without end are not remembered without end', () => {
  const durations: Durations = new Map()
  for (let i = 0; i < 5_000; i++) learnDuration(durations, `m-${i}`, 1_000)
  expect(durations.size).toBe(4096)
  expect(durations.has('m-4999')).toBe(true)
})
