// A posting list: in which rows of a segment a value occurs, as text. Two characters per row while
// they are few, one bit per row of the segment once that is shorter. Knows neither values nor rows.

/** As many as two characters can address. */
export const segmentRows = 4096

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const bitBytes = segmentRows / 8
/** With one more, the bitmap is shorter. */
const maxListed = Math.floor((bitBytes * 4) / 3 / 2)

const pairs: string[] = Array.from(
  { length: segmentRows },
  (_, i) => letters[i >> 6]! + letters[i & 63]!,
)
const codes = new Uint8Array(128)
for (let i = 0; i < letters.length; i++) codes[letters.charCodeAt(i)] = i

/** Positions in the segment, each once. */
export function packHits(places: readonly number[]): string {
  if (places.length <= maxListed) {
    let text = ''
    for (const place of places) text += pairs[place]!
    return text
  }
  const bits = Buffer.alloc(bitBytes)
  for (const place of places) bits[place >> 3]! |= 1 << (place & 7)
  return bits.toString('base64url')
}

/** The positions in any of the lists, or their intersection with others; the last one first. */
export function placesAlsoIn(
  places: readonly number[] | undefined,
  texts: readonly string[],
): number[] {
  const bits = new Uint8Array(bitBytes)
  for (const text of texts) addHits(bits, text)
  if (places !== undefined) return places.filter((place) => (bits[place >> 3]! >> (place & 7)) & 1)
  const all: number[] = []
  for (let byte = bitBytes - 1; byte >= 0; byte--) {
    const eight = bits[byte]!
    if (eight === 0) continue
    for (let bit = 7; bit >= 0; bit--) {
      if ((eight & (1 << bit)) !== 0) all.push(byte * 8 + bit)
    }
  }
  return all
}

function addHits(bits: Uint8Array, text: string): void {
  if (text.length > 2 * maxListed) {
    for (const [at, byte] of Buffer.from(text, 'base64url').entries()) bits[at]! |= byte
    return
  }
  for (let at = 0; at < text.length; at += 2) {
    const place = (codes[text.charCodeAt(at)]! << 6) | codes[text.charCodeAt(at + 1)]!
    bits[place >> 3]! |= 1 << (place & 7)
  }
}
