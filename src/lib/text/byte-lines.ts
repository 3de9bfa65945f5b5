// Lines of a stream of bytes, one by one, so that a file of any size takes little memory.

export interface ByteLine {
  /** From 1. */
  number: number
  text: string
}

const newline = 0x0a

/** Empty lines are counted and left out. A line that is too long has no text. */
export async function* byteLines(
  content: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<ByteLine> {
  let held: Uint8Array[] = []
  let size = 0
  let number = 0
  const take = (): ByteLine | undefined => {
    number++
    const text = size > maxLineBytes ? '' : Buffer.concat(held).toString().trim()
    const isLong = size > maxLineBytes
    held = []
    size = 0
    return text === '' && !isLong ? undefined : { number, text }
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
