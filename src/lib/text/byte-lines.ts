// Lines of a stream of bytes, one by one, so that a file of any size takes little memory.

export interface ByteLine {
  /** From 1. */
  number: number
  text: string
  /** Of a long line, which has no text yet. */
  bytes?: Uint8Array<ArrayBuffer>
}

const newline = 0x0a

const withoutMark = (bytes: Buffer<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** Empty lines are counted and left out. A line that is too long has no text. */
export async function* byteLines(
  content: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  longLineBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<ByteLine> {
  let held: Uint8Array[] = []
  let size = 0
  let number = 0
  const take = (): ByteLine | undefined => {
    number++
    const isTooLong = size > maxLineBytes
    const bytes = isTooLong ? undefined : Buffer.concat(held)
    held = []
    size = 0
    if (bytes !== undefined && bytes.length > longLineBytes) {
      return { number, text: '', bytes: withoutMark(bytes) }
    }
    const text = bytes === undefined ? '' : bytes.toString().trim()
    return text === '' && !isTooLong ? undefined : { number, text }
  }
  for await (const piece of content) {
    for (let at = 0; at < piece.byteLength; ) {
      const end = piece.indexOf(newline, at)
      const part = piece.subarray(at, end === -1 ? piece.byteLength : end)
      size += part.byteLength
      if (size <= maxLineBytes) held.push(part)
      at += part.byteLength + 1
      if (end === -1) break
      const line = take()
      if (line !== undefined) yield line
    }
  }
  const line = size > 0 ? take() : undefined
  if (line !== undefined) yield line
}
