import { describe, expect, test } from 'bun:test'
import { Loop, type Timers } from './loop.ts'

/** Time that passes when the test says so. */
class TestTimers implements Timers {
  #now = 0
  #planned: { atMs: number; run: () => void }[] = []

  nowMs = () => this.#now

  get planned(): number {
    return this.#planned.length
  }

  after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#now + ms, run }
    this.#planned.push(timer)
    return () => {
      this.#planned = this.#planned.filter((each) => each !== timer)
    }
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.#now + ms
    for (;;) {
      const due = this.#planned.filter(({ atMs }) => atMs <= untilMs)
      const next = due.sort((one, other) => one.atMs - other.atMs)[0]
      if (next === undefined) break
      this.#planned = this.#planned.filter((each) => each !== next)
      this.#now = Math.max(this.#now, next.atMs)
      next.run()
      await Bun.sleep(0)
    }
    this.#now = untilMs
  }
}

function newLoop(options: Partial<ConstructorParameters<typeof Loop>[0]> = {}) {
  const timers = new TestTimers()
  const runs: number[] = []
  const warnings: string[] = []
  const loop = new Loop({
    name: 'test',
    run: () => void runs.push(timers.nowMs()),
    everyMs: 100,
    log: { warn: (msg) => void warnings.push(msg) },
    failure: 'it failed',
    timers,
    ...options,
  })
  return { loop, timers, runs, warnings }
}

describe('a loop', () => {
  test('runs at once when it starts, and then in its interval', async () => {
    const { loop, timers, runs } = newLoop()
    await timers.pass(500)
    expect(runs).toEqual([])
    loop.start()
    await timers.pass(250)
    expect(runs).toEqual([500, 600, 700])
  })

  test('waits before the first run when it is told to', async () => {
    const { loop, timers, runs } = newLoop({ firstMs: 30 })
    loop.start()
    await timers.pass(140)
    expect(runs).toEqual([30, 130])
  })

  test('runs next when its run said so, but not later than its interval', async () => {
    const waits = [10, 5_000, undefined]
    const timers = new TestTimers()
    const runs: number[] = []
    const run = () => {
      runs.push(timers.nowMs())
      return waits.shift()
    }
    newLoop({ run, timers }).loop.start()
    await timers.pass(250)
    expect(runs).toEqual([0, 10, 110, 210])
  })

  test('that is woken runs earlier, never later, and has one timer', async () => {
    const { loop, timers, runs } = newLoop({ everyMs: 1_000 })
    loop.start()
    await timers.pass(10)
    loop.wake(50)
    loop.wake(20)
    loop.wake(900)
    expect(timers.planned).toBe(1)
    await timers.pass(500)
    expect(runs).toEqual([0, 30])
  })

  test('keeps its minimum gap however often it is woken', async () => {
    let gapMs = 40
    const { loop, timers, runs } = newLoop({ minGapMs: () => gapMs, everyMs: 1_000 })
    loop.start()
    await timers.pass(0)
    for (let waking = 0; waking < 6; waking++) {
      loop.wake()
      await timers.pass(10)
    }
    gapMs = 0
    expect(runs).toEqual([0, 40])
  })

  test('never runs twice at once; what wakes it during a run makes it run again', async () => {
    const ends: (() => void)[] = []
    const { loop, timers } = newLoop({
      everyMs: Number.POSITIVE_INFINITY,
      run: () => new Promise<void>((end) => ends.push(end)),
    })
    loop.start()
    await timers.pass(0)
    expect([ends.length, loop.isRunning]).toEqual([1, true])
    loop.wake()
    loop.wake()
    await timers.pass(1_000)
    expect(ends).toHaveLength(1)
    ends[0]!()
    await Bun.sleep(0)
    await timers.pass(0)
    expect(ends).toHaveLength(2)
    ends[1]!()
    await Bun.sleep(0)
    expect([loop.isRunning, timers.planned]).toEqual([false, 0])
  })

  test('backs off while it fails, says so each time, and recovers', async () => {
    let isBroken = true
    const timers = new TestTimers()
    const runs: number[] = []
    const { loop, warnings } = newLoop({
      timers,
      retryMs: 10,
      run: async () => {
        runs.push(timers.nowMs())
        if (isBroken) throw new Error('broken')
      },
    })
    loop.start()
    await timers.pass(300)
    expect(runs).toEqual([0, 10, 30, 70, 150, 250])
    isBroken = false
    await timers.pass(60)
    isBroken = true
    await timers.pass(145)
    expect(runs.slice(6)).toEqual([350, 450, 460, 480])
    expect(warnings).toHaveLength(9)
  })

  test('runs a random share earlier, so that gateways do not run in step', async () => {
    const { loop, timers, runs } = newLoop({ jitter: 0.5, random: () => 0.5 })
    loop.start()
    await timers.pass(160)
    expect(runs).toEqual([0, 75, 150])
  })

  test('that stops waits for the current run, and starts no other', async () => {
    const end = Promise.withResolvers<void>()
    let runs = 0
    const { loop, timers } = newLoop({
      run: () => {
        runs++
        return end.promise
      },
    })
    loop.start()
    await timers.pass(0)
    loop.wake()
    let isStopped = false
    const stopping = loop.stop().then(() => {
      isStopped = true
    })
    await Bun.sleep(0)
    expect([isStopped, loop.isStopped]).toEqual([false, true])
    end.resolve()
    await stopping
    loop.wake()
    await timers.pass(1_000)
    expect([runs, timers.planned]).toEqual([1, 0])
  })
})
