// Replaces time and randomness of this process by those of a world. This is why a simulation runs in its own
// process.
import { dropDrawn } from '../../src/lib/crypto/ids.ts'
import type { Planned } from './schedule.ts'
import type { World } from './world.ts'

let world: World | undefined

const here = (): World => {
  if (world === undefined) throw new Error('there is no world to plan anything in')
  return world
}

/** As much of a timer as the code uses. */
class SimTimer {
  planned: Planned | undefined

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

type Work = (...args: unknown[]) => void

function later(work: Work, ms = 0, ...args: unknown[]): SimTimer {
  const timer = new SimTimer()
  timer.planned = here().after(ms, here().current, () => work(...args))
  return timer
}

function again(work: Work, ms = 1, ...args: unknown[]): SimTimer {
  const timer = new SimTimer()
  const proc = here().current
  const turn = () => {
    timer.planned = here().after(ms, proc, turn)
    work(...args)
  }
  timer.planned = here().after(ms, proc, turn)
  return timer
}

function callOff(timer: SimTimer | undefined): void {
  if (timer?.planned !== undefined) here().cancel(timer.planned)
}

/** From now on time and randomness are those of the world. */
export function takeOver(): void {
  Object.assign(globalThis, {
    setTimeout: later,
    setImmediate: (work: Work, ...args: unknown[]) => later(work, 0, ...args),
    setInterval: again,
    clearTimeout: callOff,
    clearInterval: callOff,
    clearImmediate: callOff,
  })
  Date.now = () => here().wallMs()
  performance.now = () => here().nowMs
  Math.random = () => here().chance.next()
  Object.assign(crypto, {
    getRandomValues: <T extends ArrayBufferView | null>(bytes: T) => here().idChance.fill(bytes),
  })
  Object.assign(Bun, { sleep: (ms: number) => here().pause(ms, here().current) })
  // Kysely freezes every node of every query: a fifth of the time of all worlds.
  Object.freeze = <T>(value: T): T => value
}

export function enter(next: World): void {
  world = next
  dropDrawn()
}
