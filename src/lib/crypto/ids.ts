// Time-ordered ids: a prefix, 48 bits of milliseconds, then random bits, in lower-case hex.
// Ids made in one millisecond are not ordered among themselves, only unguessable.

let pool = new Uint8Array(0)
let used = 0

const hex: string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))

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
    pool = crypto.getRandomValues(new Uint8Array(10_240))
    used = 0
  }
  let random = ''
  for (const end = used + bytes; used < end; used++) random += hex[pool[used]!]
  return `${prefix}_${nowMs.toString(16).padStart(12, '0')}${random}`
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
