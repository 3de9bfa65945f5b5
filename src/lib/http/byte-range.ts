// What a Range header asks of a file whose size is known, and whether a tag in a condition is the
// file's. Knows no file.

/** First and last byte, both included. */
export interface ByteRange {
  first: number
  last: number
}

/** Anything but one range of bytes means the whole, as if nothing had been asked. */
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

/** `*`, or a list that has the tag; a weak one is as good here. */
export function hasTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}
