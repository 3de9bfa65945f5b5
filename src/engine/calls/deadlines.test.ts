// Time limits of upstream work, with a clock that only the test moves.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Deadlines } from './deadlines.ts'

const limits = { firstByteMs: 1_000, idleMs: 300, totalMs: 5_000 }
let nowMs: number
let deadlines: Deadlines
let expired: string[]

beforeEach(() => {
  nowMs = 1_000_000
  deadlines = new Deadlines(() => nowMs)
  expired = []
})
afterEach(() => deadlines.close())

const start = (name: string, more: Partial<typeof limits> = {}) =>
  deadlines.start({ ...limits, ...more }, { cancel: () => expired.push(name) })

/** Moves the clock and sweeps. */
function after(ms: number): string[] {
  nowMs += ms
  deadlines.sweep()
  return expired
}

describe('a call', () => {
  test('may take its first limit to begin, and not longer', () => {
    const deadline = start('a')
    expect(after(1_000)).toEqual([])
    expect(deadline.expired).toBe(false)
    expect(after(1)).toEqual(['a'])
    expect(deadline.expired).toBe(true)
  })

  test('may then be silent for the idle limit, counted anew from every sign of life', () => {
    const deadline = start('a')
    after(900)
    deadline.touch()
    for (let i = 0; i < 10; i++) {
      expect(after(300)).toEqual([])
      deadline.touch()
    }
    expect(after(301)).toEqual(['a'])
  })

  test('may not take longer than its total, however lively it is', () => {
    const deadline = start('a')
    for (let ms = 0; ms < 5_000; ms += 250) {
      expect(after(250)).toEqual([])
      deadline.touch()
    }
    expect(after(1)).toEqual(['a'])
  })

  test('that goes on is not bound by its total, unless it is only alive', () => {
    const deadline = start('a')
    let goesOn = true
    deadline.output = { hasGoneOn: () => goesOn }
    for (let ms = 0; ms < 20_000; ms += 250) {
      expect(after(250)).toEqual([])
      deadline.touch()
    }
    goesOn = false
    for (let ms = 0; ms < 4_000; ms += 250) {
      expect(after(250)).toEqual([])
      deadline.touch()
    }
    for (let ms = 0; ms < 2_500; ms += 250) {
      after(250)
      deadline.touch()
    }
    expect(expired).toEqual(['a'])
  })

  test('is not charged with the time that its caller takes to read', () => {
    const deadline = start('a', { idleMs: 10_000, totalMs: 100 })
    deadline.touch()
    deadline.awaitCaller({ cancel: () => expired.push('caller') })
    expect(after(9_000)).toEqual([])
    deadline.awaitCaller(undefined)
    expect(after(100)).toEqual([])
    expect(after(1)).toEqual(['a'])
  })

  test('whose total is shorter than its first limit ends by the total', () => {
    start('a', { totalMs: 10 })
    expect(after(11)).toEqual(['a'])
  })

  test('expires once', () => {
    const deadline = start('a')
    after(2_000)
    deadline.touch()
    after(2_000)
    expect(after(10_000)).toEqual(['a'])
    expect(deadline.expired).toBe(true)
  })

  test('that has ended never expires, and may end twice', () => {
    const deadline = start('a')
    deadline.end()
    deadline.end()
    expect(after(100_000)).toEqual([])
    expect(deadline.expired).toBe(false)
  })
})

describe('a gateway that stood still', () => {
  let processMs: number

  beforeEach(() => {
    deadlines.close()
    processMs = 5_000
    deadlines = new Deadlines(
      () => nowMs,
      () => processMs,
    )
  })

  const pass = (ms: number) => {
    processMs += ms
    return after(ms)
  }

  test('gives every call its time again, and knows that they were under way', () => {
    const before = start('before')
    pass(250)
    processMs += 70_000
    nowMs += 70_000
    expect(before.hasStoodStill).toBe(true)
    const later = start('later')
    expect(pass(0)).toEqual([])
    expect([before.expired, before.hasStoodStill]).toEqual([false, true])
    for (let ms = 0; ms < 500; ms += 250) expect(pass(250)).toEqual([])
    expect(pass(1)).toEqual(['before'])
    expect(later.expired).toBe(false)
  })

  test('is one whose sweep is late, not one that is busy', () => {
    const deadline = start('a')
    for (let ms = 0; ms < 1_000; ms += 500) expect(pass(500)).toEqual([])
    expect(deadline.hasStoodStill).toBe(false)
    expect(pass(1)).toEqual(['a'])
  })
})

describe('many calls', () => {
  test('expire each at its own time', () => {
    start('a', { firstByteMs: 100 })
    start('b', { firstByteMs: 200 })
    nowMs += 50
    start('late', { firstByteMs: 100 })
    expect(after(51)).toEqual(['a'])
    expect(after(50)).toEqual(['a', 'late'])
    expect(after(50)).toEqual(['a', 'late', 'b'])
  })

  test('that wait for their caller tell the caller to go, and then guard the upstream again', () => {
    const deadline = start('upstream', { firstByteMs: 100, idleMs: 100 })
    deadline.awaitCaller({ cancel: () => expired.push('caller') })
    expect(after(101)).toEqual(['caller'])
    expect(deadline.expired).toBe(false)
    expect(after(100)).toEqual(['caller'])
    expect(after(1)).toEqual(['caller', 'upstream'])
  })

  test('end at once when the gateway does, and streams are told', () => {
    const told: string[] = []
    const [call, stream] = [start('call'), start('stream')]
    stream.stream = { beat() {}, cut: () => told.push('stream') }
    deadlines.stopAll()
    expect([expired, told]).toEqual([['call', 'stream'], ['stream']])
    expect([call.stopped, stream.expired]).toEqual([true, true])
  })

  test('may end or begin while others expire', () => {
    const others = new Map<string, { end(): void }>()
    deadlines.start(
      { ...limits, firstByteMs: 1 },
      {
        cancel() {
          expired.push('first')
          others.get('second')?.end()
          start('begun')
        },
      },
    )
    others.set('second', start('second', { firstByteMs: 1 }))
    expect(after(2)).toEqual(['first'])
    expect(after(1_001)).toEqual(['first', 'begun'])
  })

  test('are swept without being asked, until closed', async () => {
    const seen = Promise.withResolvers<void>()
    deadlines.start({ ...limits, firstByteMs: 1 }, { cancel: seen.resolve })
    nowMs += 2
    await seen.promise
    deadlines.close()
  })
})

describe('a caller that waits for a silent upstream', () => {
  test('is told every fifteen seconds that it still goes on, and not when it is its turn', () => {
    const deadline = start('a', { firstByteMs: 200_000, idleMs: 100_000, totalMs: 500_000 })
    let beats = 0
    deadline.stream = { beat: () => beats++, cut() {} }
    const beatsAfter = (ms: number) => {
      after(ms)
      return beats
    }
    const early = [15_000, 1, 1_000, 14_000, 1].map(beatsAfter)
    expect(early).toEqual([0, 1, 1, 1, 2])
    deadline.touch()
    expect([beatsAfter(15_000), beatsAfter(250)]).toEqual([2, 3])
    deadline.awaitCaller({ cancel() {} })
    expect(beatsAfter(40_000)).toBe(3)
    expect(deadline.expired).toBe(false)
  })

  test('is told the same when the upstream sends what is not for it', () => {
    const deadline = start('a', { firstByteMs: 200_000, idleMs: 100_000, totalMs: 500_000 })
    let beats = 0
    deadline.stream = { beat: () => beats++, cut() {} }
    for (let ms = 0; ms < 40_000; ms += 250) {
      after(250)
      deadline.touch()
    }
    expect(beats).toBe(2)
  })
})
