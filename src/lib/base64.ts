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
  // Reading a long one is much quicker than looking at each letter of it.
  const bytes = eachStretch(text, () => {})
  if (bytes === undefined || bytes === 0) return undefined
  if (isPlain(text, Math.ceil((bytes * 4) / 3))) return text
  let plain = ''
  eachStretch(text, (read) => {
    plain += read.toBase64()
  })
  return plain
}

/** Gives the bytes of one stretch after the other and tells how many there are; all but the last of
 * them are whole groups of letters. Undefined when it is no base64. */
function eachStretch(text: string, use: (read: Uint8Array) => void): number | undefined {
  const place = new Uint8Array((stretch / 4) * 3)
  let total = 0
  for (let at = 0; at < text.length; ) {
    const lastChunkHandling = at + stretch >= text.length ? 'loose' : 'stop-before-partial'
    let done: { read: number; written: number }
    try {
      done = place.setFromBase64(text.slice(at, at + stretch), { lastChunkHandling })
    } catch {
      return undefined
    }
    if (done.read === 0) return undefined
    at += done.read
    total += done.written
    use(place.subarray(0, done.written))
    // After padding nothing comes any more.
    if (done.written % 3 !== 0 && text.slice(at).trim() !== '') return undefined
  }
  return total
}

/** Whether nothing but that many letters and their padding is in it. */
const isPlain = (text: string, letters: number): boolean =>
  text.length <= letters + 2 && /^=*$/.test(text.slice(letters))
