// What a timeline keeps, and how it shortens very many steps.
import { expect, test } from 'bun:test'
import { type NewStep, readTimeline, withStep, withSteps } from './timeline.ts'

const createdAtMs = 1_700_000_000_000
const at = (seconds: number, more: Partial<NewStep> = {}): NewStep => ({
  kind: 'polled',
  atMs: createdAtMs + seconds * 1_000,
  state: 'running',
  progress: 30,
  ...more,
})
const timelineOf = (...steps: NewStep[]) => withSteps({ createdAtMs }, steps)
const read = (timeline: string) =>
  readTimeline(timeline, createdAtMs).map(({ kind, atMs, lastMs, times, note }) => [
    kind,
    (atMs - createdAtMs) / 1_000,
    (lastMs - createdAtMs) / 1_000,
    times,
    ...(note === undefined ? [] : [note]),
  ])

test('a step comes back as it was told', () => {
  const step = at(1.5, { note: 'a word: and more', progress: 40 })
  expect(readTimeline(timelineOf(step), createdAtMs)).toEqual([
    { ...step, lastMs: step.atMs, times: 1 } as never,
  ])
  expect(readTimeline('', createdAtMs)).toEqual([])
})

test('looks in a row that saw the same are one; another state, progress or failure is not', () => {
  const timeline = timelineOf(
    at(0, { kind: 'created', state: 'accepted', progress: 0 }),
    at(1, { state: 'queued', progress: 0 }),
    at(2, { state: 'queued', progress: 0 }),
    at(4),
    at(5),
    at(9),
    at(10, { progress: 60 }),
    at(11, { kind: 'poll_failed', progress: 60, note: 'upstream_error: id 1 broke' }),
    at(13, { kind: 'poll_failed', progress: 60, note: 'upstream_error: id 2 broke' }),
    at(15, { kind: 'poll_failed', progress: 60, note: 'upstream_timeout: too slow' }),
    at(16, { progress: 60 }),
  )
  expect(read(timeline)).toEqual([
    ['created', 0, 0, 1],
    ['polled', 1, 2, 2],
    ['polled', 4, 9, 3],
    ['polled', 10, 10, 1],
    ['poll_failed', 11, 13, 2, 'upstream_error: id 2 broke'],
    ['poll_failed', 15, 15, 1, 'upstream_timeout: too slow'],
    ['polled', 16, 16, 1],
  ])
})

test('what happens once is never told as twice the same', () => {
  const lost = at(1, { kind: 'lost', state: 'unknown', progress: 0 })
  expect(read(timelineOf(lost, lost))).toHaveLength(2)
})

test('many looks that somebody counted for us are one step', () => {
  const many = at(1, { times: 12, lastMs: createdAtMs + 30_000 })
  expect(read(timelineOf(many, at(31)))).toEqual([['polled', 1, 31, 13]])
})

test('a clock that jumps back neither breaks a step nor makes it end before it began', () => {
  expect(read(timelineOf(at(5), at(3), at(-2, { progress: 31 })))).toEqual([
    ['polled', 5, 5, 2],
    ['polled', -2, -2, 1],
  ])
})

test('of very many steps the first and the last stay, and the gap says how much it hides', () => {
  const steps = Array.from({ length: 1_000 }, (_, i) => at(i, { progress: i % 2 }))
  const timeline = timelineOf(...steps)
  const all = read(timeline)
  expect(all).toHaveLength(100)
  expect(all.slice(0, 20).map(([, second]) => second)).toEqual([...Array(20).keys()])
  expect(all[20]).toEqual(['truncated', 20, 920, 901])
  expect(all.slice(21).map(([, second]) => second)).toEqual(
    [...Array(79).keys()].map((i) => 921 + i),
  )
  expect(all.reduce((sum, [, , , times]) => sum + Number(times), 0)).toBe(1_000)
  expect(timeline.length).toBeLessThan(4_000)
})

test('a note is one short line that every database takes', () => {
  const note = `broke\u0000 on\r\nline two \ud83d${'x'.repeat(300)}`
  const [step] = readTimeline(timelineOf(at(1, { note }), at(2, { progress: 31 })), createdAtMs)
  expect(step!.note).toStartWith('broke on line two \ufffdxxx')
  expect(step!.note!.length).toBeLessThanOrEqual(120)
  // Half a surrogate pair at the cut is invalid, and PostgreSQL would refuse it.
  const cut = withStep({ createdAtMs }, at(1, { note: `${'x'.repeat(119)}😀` }))
  expect(cut.isWellFormed()).toBe(true)
})

test('lines of a later version are left out, and stay where they are', () => {
  const timeline = withStep({ timeline: '9 0 1 moved running 3 x\n', createdAtMs }, at(10))
  expect(timeline).toStartWith('9 0 1 moved running 3 x\n')
  expect(read(timeline)).toEqual([['polled', 10, 10, 1]])
})

test('lines of 0.2 are read under the kinds of today, and merge with them', () => {
  const old = '1000 2000 3 look running 30\n'
  expect(read(`${old}4000 0 1 look_failed running 30 upstream_error: it broke\n`)).toEqual([
    ['polled', 1, 3, 3],
    ['poll_failed', 4, 4, 1, 'upstream_error: it broke'],
  ])
  expect(withStep({ timeline: old, createdAtMs }, at(5))).toBe('1000 4000 4 polled running 30\n')
})
