// Yields to the event loop for work that takes milliseconds: one piece of work per turn in the
// whole process, so that other events run in between, however many pieces there are.

const waiting: (() => void)[] = []
let scheduled = false

/** Resolves in a turn of its own. */
export function nextTurn(): Promise<void> {
  return new Promise((go) => {
    waiting.push(go)
    schedule()
  })
}

function schedule(): void {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    waiting.shift()?.()
    if (waiting.length > 0) schedule()
  })
}

const itemsPerTurn = 250

/** Other work gets its turn in between. */
export async function mapInTurns<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const made: U[] = []
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % itemsPerTurn === 0) await nextTurn()
    made.push(map(item))
  }
  return made
}
