// Time-ordered ids: a prefix, 48 bits of milliseconds, 80 random bits, in lower-case hex.
// Ids made in one millisecond are not ordered among themselves, only unguessable.

let pool = new Uint8Array(0)
let used = 0

const hex: string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))

export function newId(prefix: string, nowMs: number = Date.now()): string {
  if (used + 10 > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(10_240))
    used = 0
  }
  let random = ''
  for (const end = used + 10; used < end; used++) random += hex[pool[used]!]
  return `${prefix}_${nowMs.toString(16).padStart(12, '0')}${random}`
}

/** A secret with 192 random bits, in letters and digits that survive a double click. */
export function newSecret(prefix: string): string {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'
  let text = ''
  while (text.length < 40) {
    // Bytes above the last whole multiple would favour the first letters.
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < 224 && text.length < 40) text += alphabet[byte % 56]
    }
  }
  return prefix + text
}
