// A write about what has happened already, such as an upstream's yes: it is tried again while the
// store is in trouble, because nobody will say it a second time.
import { isUniqueConflict } from '../../store/index.ts'
import type { Engine } from '../engine.ts'

const pauseMs = 200
/** While the store says that it cannot write. */
const mostMs = 20_000
/** When it says that it can. */
const mostTries = 3

/** The write must bear being done twice: one whose answer was lost may have been stored. */
export async function insist<T>(
  { store }: Pick<Engine, 'store'>,
  write: () => Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + mostMs
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      const isOver = store.healthy ? tries >= mostTries : performance.now() >= untilMs
      if (isOver || isUniqueConflict(error)) throw error
    }
    await Bun.sleep(pauseMs)
  }
}
