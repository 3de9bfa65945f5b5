// Retries a write about something that has already happened, such as an upstream's acceptance,
// while the store fails: the upstream will not report it again.
import { isUniqueConflict, type Store } from '../../store/index.ts'

const pauseMs = 200
/** While the store reports that it cannot write. */
const maxMs = 20_000
/** When it reports that it can. */
const maxTries = 3

/** The write must be idempotent: one with a lost reply may have been stored. */
export async function retryWrite<T>(
  { store }: { readonly store: Store },
  write: () => Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + maxMs
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      const isOver = store.healthy ? tries >= maxTries : performance.now() >= untilMs
      if (isOver || isUniqueConflict(error)) throw error
    }
    await Bun.sleep(pauseMs)
  }
}
