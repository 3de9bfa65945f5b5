// Yields to the event loop for work that takes milliseconds: one piece of work per turn in the whole process,
// and as long a pause after it as it took, so that other requests, which need several turns, wait for one
// piece and not for one in each of their turns.

const waiting: (() => void)[] = []
let scheduled = false
/** When the last piece of work ended, and how long it took. */
let endedMs = 0
let tookMs = 0

/** A shorter piece needs no pause. */
const shortMs = 2
const maxPauseMs = 25

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
  setImmediate(runOrPause)
}

function runOrPause(): void {
  const pauseMs = Math.min(tookMs, maxPauseMs) - (performance.now() - endedMs)
  if (tookMs > shortMs && pauseMs > 1) {
    setTimeout(runNext, pauseMs)
    return
  }
  runNext()
}

function runNext(): void {
  scheduled = false
  const startedMs = performance.now()
  waiting.shift()?.()
  // After the work that has waited for it.
  queueMicrotask(() => {
    endedMs = performance.now()
    tookMs = endedMs - startedMs
    if (waiting.length > 0) schedule()
  })
}

/** Of bytes that have come, which are handed out without a turn in between, however many they are. */
const readPerTurn = 256 * 1024

/** Counts what is read of one body. */
export class ReadTurns {
  #bytes = 0

  /** Whether it is time for a turn of other work. */
  isDue(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes < readPerTurn) return false
    this.#bytes = 0
    return true
  }
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

/** Copying takes most of a millisecond for each megabyte: the memory is new. */
const bytesPerTurn = 4 * 1024 * 1024

/** One copy of all of them, of this size together. */
export async function copyInTurns(
  chunks: readonly Uint8Array[],
  size: number,
): Promise<Buffer<ArrayBuffer>> {
  const whole = Buffer.allocUnsafeSlow(size)
  let at = 0
  let turnEnd = bytesPerTurn
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      if (at === turnEnd) {
        await nextTurn()
        turnEnd += bytesPerTurn
      }
      const part = chunk.subarray(from, from + turnEnd - at)
      whole.set(part, at)
      at += part.length
      from += part.length
    }
  }
  return whole
}
