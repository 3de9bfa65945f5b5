// Collects the garbage of a thread that handles large texts: when there is much of it, or when the thread has
// nothing to do. After each text it would cost more than the texts, on cores that other threads wait for.

const muchBytes = 16 * 1024 * 1024
const idleMs = 100

let passedBytes = 0
let idle: ReturnType<typeof setTimeout> | undefined

/** After a message was answered: its texts and bytes are garbage now. */
export function collectSoon(message: object): void {
  for (const part of Object.values(message)) passedBytes += lengthOf(part)
  clearTimeout(idle)
  if (passedBytes > muchBytes) collect()
  else idle = setTimeout(collect, idleMs)
}

const lengthOf = (part: unknown): number =>
  typeof part === 'string' || part instanceof Uint8Array ? part.length : 0

function collect(): void {
  passedBytes = 0
  Bun.gc(true)
}
