import { expect, test } from 'bun:test'
import { PollLag } from './poll-lag.ts'

test('nothing has been late before the first look', () => {
  expect(new PollLag().read()).toEqual({ polls: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 })
})

test('tells how late most looks were, and the latest', () => {
  const lag = new PollLag()
  for (let late = 100; late >= 1; late--) lag.note(1_000, 1_000 + late)
  expect(lag.read()).toEqual({ polls: 100, p50Ms: 50, p99Ms: 99, maxMs: 100 })
})

test('a look before its time is not late, and old looks are forgotten', () => {
  const lag = new PollLag()
  lag.note(0, 99_999)
  for (let i = 0; i < 1_024; i++) lag.note(1_000, 900)
  expect(lag.read()).toEqual({ polls: 1_025, p50Ms: 0, p99Ms: 0, maxMs: 0 })
})
