// Evaluates a Range header for a file of known size, and matches entity tags in conditions. Knows
// no file.

/** First and last byte, both included. */
export interface ByteRange {
  first: number
  last: number
}

/** Anything but a single byte range means the whole file, as without the header. */
export function rangeIn(header: string | undefined, size: number): ByteRange | 'none' | undefined {
  const parts = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header?.trim() ?? '')
  if (parts === null) return undefined
  const [, from, to, suffix] = parts
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size)
    return length === 0 ? 'none' : { first: size - length, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return undefined
  return first >= size ? 'none' : { first, last }
}

/** `*`, or a list that contains the tag; weak tags match too. */
export function hasTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}
