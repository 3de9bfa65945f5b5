// Base64 of any length as it comes from outside: whether it is that, and without the blanks that
// tools put into it.

const shortText = 64 * 1024
/** Letters that are read at once, into the same place again and again: a whole number of bytes. */
const stretch = 1024 * 1024

/** Without blanks and line ends; undefined when it is no base64. The same text when it has none. */
export function plainBase64(text: string): string | undefined {
  if (text.length <= shortText) {
    const plain = text.replaceAll(/\s+/g, '')
    return /^[A-Za-z0-9+/]+={0,2}$/.test(plain) ? plain : undefined
  }
  return plainLong(text)
}

/** Reading a long one is much quicker than looking at each letter of it. */
function plainLong(text: string): string | undefined {
  const place = new Uint8Array((stretch / 4) * 3)
  let bytes = 0
  /** What was read so far without its blanks; undefined while it has none. */
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
    // After padding nothing comes any more.
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

/** Whether nothing but that many letters and their padding stands before the end. */
const hasOnly = (text: string, letters: number, end: number): boolean =>
  end <= letters + 2 && /^=*$/.test(text.slice(letters, end))
