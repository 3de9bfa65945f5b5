// A write of records at one moment, with everything that can happen around it: it fails, its gateway dies before
// it or after it, or it is reported as failed although it was done.
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import { away, trouble } from './injected-errors.ts'

/** Of the process that writes. */
export interface WriteAccess {
  context: SimContext
  proc: Proc
  /** How long a request to the disk or the database takes, and how long its reply. */
  wayMs(): number
  failed(error: unknown): void
}

/** Who waits for the reply. */
interface Waiting<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

/** To be called when the request arrives. `write` gives what its reply brings. */
export function writeFaulty<T>(
  { context, proc, wayMs }: WriteAccess,
  { resolve, reject }: Waiting<T>,
  what: string,
  write: () => () => T,
) {
  const { world, random, faults } = context
  const { store, process } = faults
  const answer = (give: () => void) => void world.after(wayMs(), proc, give)
  if (context.storeIsAway) return answer(() => reject(away()))
  if (random.process.chance(process.crashAtCommit)) return context.kill(proc, `before ${what}`)
  if (random.store.chance(store.lost)) return answer(() => reject(trouble(`${what} failed`)))
  let done: () => T
  try {
    done = write()
  } catch (error) {
    return answer(() => reject(error))
  }
  if (random.process.chance(process.crashAtCommit)) return context.kill(proc, `after ${what}`)
  const isUnsure = random.store.chance(store.unknown)
  answer(() => (isUnsure ? reject(trouble('unknown')) : resolve(done())))
}
