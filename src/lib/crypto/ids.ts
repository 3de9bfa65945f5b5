// Time-ordered ids: a prefix, 48 bits of milliseconds, then random bits, in lower-case hex.
// Ids made in one millisecond are not ordered among themselves, only unguessable.

let pool = Buffer.alloc(0)
let used = 0
/** Many ids are made in one millisecond. */
let lastMs = -1
let lastTime = ''

/** Discards random bytes drawn in advance, so that later ids depend on the random source alone. */
export function dropDrawn(): void {
  used = pool.length
}

/** 80 random bits: ids of other callers' requests and tasks cannot be guessed. */
export const newId = (prefix: string, nowMs: number = Date.now()): string => make(prefix, nowMs, 10)

/** 40 random bits: for objects that only administrators name, and that are in every log row. */
export const newShortId = (prefix: string, nowMs: number = Date.now()): string =>
  make(prefix, nowMs, 5)

function make(prefix: string, nowMs: number, bytes: number): string {
  if (used + bytes > pool.length) {
    pool = crypto.getRandomValues(Buffer.alloc(10_240))
    used = 0
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastTime = nowMs.toString(16).padStart(12, '0')
  }
  const from = used
  used += bytes
  return `${prefix}_${lastTime}${pool.toString('hex', from, used)}`
}

/** A secret with 192 random bits, in letters and digits so that a double click selects it. */
export function newSecret(prefix: string): string {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'
  let text = ''
  while (text.length < 40) {
    // Bytes above the last whole multiple would bias towards the first letters.
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < 224 && text.length < 40) text += alphabet[byte % 56]
    }
  }
  return prefix + text
}
