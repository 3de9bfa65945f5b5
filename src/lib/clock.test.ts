import { afterEach, describe, expect, test } from 'bun:test'
import { SteadyClock } from './clock.ts'

const real = { date: Date.now, mono: performance.now.bind(performance) }
afterEach(() => {
  Date.now = real.date
  performance.now = real.mono
})

/** Both clocks of the machine, by hand. */
function machine(wallMs = 1_800_000_000_000) {
  const at = { wallMs, monoMs: 1_000 }
  Date.now = () => at.wallMs
  performance.now = () => at.monoMs
  return {
    at,
    pass(ms: number) {
      at.wallMs += ms
      at.monoMs += ms
    },
  }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

describe('a steady clock', () => {
  test('goes on as before when the wall clock is stepped, either way', () => {
    const { at, pass } = machine()
    const clock = new SteadyClock()
    for (const step of [-hourMs, 40 * dayMs]) {
      const before = clock.nowMs()
      at.wallMs += step
      pass(1_000)
      expect(clock.nowMs()).toBe(before + 1_000)
      expect(clock.sureMs()).toBe(before + 1_000)
    }
    expect(clock.aheadMs()).toBe(40 * dayMs - hourMs)
  })

  test('takes the time of its reference, whatever the wall clock says', () => {
    const { at, pass } = machine()
    const clock = new SteadyClock()
    clock.reply(5_000_000, at.monoMs - 10, at.monoMs)
    expect(clock.nowMs()).toBe(5_000_005)
    pass(10_000)
    // Fits into what was heard: nothing changes.
    expect(clock.reply(5_010_000, at.monoMs - 10, at.monoMs)).toBe(0)
    expect(clock.nowMs()).toBe(5_010_005)
    // The loop was late: that says nothing.
    pass(300)
    expect(clock.reply(5_010_005, at.monoMs - 300, at.monoMs)).toBe(0)
    // It runs slow by 30 ms.
    expect(clock.reply(5_010_335, at.monoMs - 10, at.monoMs)).toBe(30)
  })

  test('a jump ahead of its reference counts for ages only after an hour, or not at all', () => {
    const { at, pass } = machine()
    const clock = new SteadyClock()
    const hear = (ms: number) => clock.reply(ms, at.monoMs, at.monoMs)
    hear(at.wallMs)
    hear(at.wallMs + 40 * dayMs)
    expect(clock.nowMs()).toBe(at.wallMs + 40 * dayMs)
    expect(clock.sureMs()).toBe(at.wallMs)
    pass(1_000)
    expect(clock.sureMs()).toBe(at.wallMs)
    hear(at.wallMs)
    expect([clock.nowMs(), clock.sureMs()]).toEqual([at.wallMs, at.wallMs])
    hear(at.wallMs + 40 * dayMs)
    pass(hourMs)
    expect(clock.sureMs()).toBe(at.wallMs + 40 * dayMs)
  })

  test('tells whole milliseconds only, also after a jump', () => {
    const { at } = machine()
    at.monoMs = 1_000.25
    const clock = new SteadyClock()
    clock.reply(at.wallMs, at.monoMs, at.monoMs)
    clock.reply(at.wallMs + dayMs + 0.7, at.monoMs - 0.3, at.monoMs)
    expect([clock.nowMs(), clock.sureMs(), clock.aheadMs()].every(Number.isInteger)).toBe(true)
  })

  test('what passed while nothing ran counts for ages only after an hour', () => {
    const { at, pass } = machine()
    const clock = new SteadyClock()
    clock.knownUntil(at.wallMs - 40 * dayMs)
    expect(clock.nowMs()).toBe(at.wallMs)
    expect(clock.sureMs()).toBe(at.wallMs - 40 * dayMs)
    pass(hourMs)
    expect(clock.sureMs()).toBe(at.wallMs)
    const other = new SteadyClock()
    other.knownUntil(at.wallMs - 30_000)
    other.knownUntil(at.wallMs + dayMs)
    expect(other.sureMs()).toBe(at.wallMs)
  })

  test('follows the wall clock slowly where it has no reference', () => {
    const { at, pass } = machine()
    const clock = new SteadyClock()
    at.wallMs += 40 * dayMs
    const began = clock.nowMs()
    pass(5_000)
    clock.slew(5_000)
    expect(clock.nowMs()).toBe(began + 5_025)
    at.wallMs = clock.nowMs() - 3
    clock.slew(5_000)
    expect(clock.aheadMs()).toBe(0)
  })
})
