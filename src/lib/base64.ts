// Validates base64 of any length from outside, and removes the whitespace that tools insert.

const shortText = 64 * 1024
/** Characters decoded at once into a reused buffer: a whole number of bytes. */
const stretch = 1024 * 1024

/** Without whitespace; undefined when it is not base64. The same text when it has none. */
export function plainBase64(text: string): string | undefined {
  if (text.length <= shortText) {
    const plain = text.replaceAll(/\s+/g, '')
    return /^[A-Za-z0-9+/]+={0,2}$/.test(plain) ? plain : undefined
  }
  return plainLong(text)
}

/** Decoding a long text is much faster than checking each character. */
function plainLong(text: string): string | undefined {
  const place = new Uint8Array((stretch / 4) * 3)
  let bytes = 0
  /** What was decoded so far without its whitespace; undefined while it has none. */
  let plain: string | undefined
  for (let at = 0; at < text.length; ) {
    const isLast = at + stretch >= text.length
    const done = readInto(place, text.slice(at, at + stretch), isLast)
    if (done === undefined || done.read === 0) return undefined
    bytes += done.written
    const letters = Math.ceil((bytes * 4) / 3)
    if (plain === undefined && !hasOnly(text, letters, at + done.read)) plain = text.slice(0, at)
    if (plain !== undefined) plain += place.subarray(0, done.written).toBase64()
    at += done.read
    // Nothing may follow the padding.
    if (done.written % 3 !== 0 && text.slice(at).trim() !== '') return undefined
  }
  return bytes === 0 ? undefined : (plain ?? text)
}

function readInto(
  place: Uint8Array,
  text: string,
  isLast: boolean,
): { read: number; written: number } | undefined {
  const lastChunkHandling = isLast ? 'loose' : 'stop-before-partial'
  try {
    return place.setFromBase64(text, { lastChunkHandling })
  } catch {
    return undefined
  }
}

/** Whether only that many characters and their padding precede the end. */
const hasOnly = (text: string, letters: number, end: number): boolean =>
  end <= letters + 2 && /^=*$/.test(text.slice(letters, end))

/** Base64 that begins there in a text. */
export interface Base64Part {
  text: string
  from: number
}

/** The bytes of each between two of the texts, which are one more; undefined when one is no Base64. */
export function bytesBetween(
  texts: readonly string[],
  parts: readonly Base64Part[],
): Uint8Array<ArrayBuffer> | undefined {
  const around = texts.map((text) => Buffer.from(text))
  const textBytes = around.reduce((sum, { length }) => sum + length, 0)
  const maxBytes = parts.reduce((sum, { text, from }) => sum + text.length - from, textBytes)
  const all = new Uint8Array(maxBytes)
  let at = 0
  for (const [index, bytes] of around.entries()) {
    all.set(bytes, at)
    at += bytes.length
    const part = parts[index]
    if (part === undefined) continue
    const done = readInto(all.subarray(at), part.text.slice(part.from), true)
    if (done === undefined || done.written === 0) return undefined
    at += done.written
  }
  return all.subarray(0, at)
}
