// Encodes long texts, and JSON that contains them, one part per turn of the event loop: encoding
// tens of megabytes at once would block other work for too long.
import { nextTurn } from './turns.ts'

/** Shorter texts are encoded at once. */
const longText = 256 * 1024
/** Characters per turn; the slowest take some milliseconds. */
const turnLength = 1024 * 1024

export async function utf8InTurns(text: string): Promise<Uint8Array> {
  const writer = new Writer()
  for (const _ of writer.add(text)) await nextTurn()
  await nextTurn()
  return writer.end()
}

/** The result of JSON.stringify for plain data: a string when it is short, else bytes. */
export async function jsonInTurns(value: unknown): Promise<string | Uint8Array> {
  if (!isLong(value)) return JSON.stringify(value)
  const writer = new Writer()
  for (const _ of written(writer, value)) await nextTurn()
  await nextTurn()
  return writer.end()
}

function isLong(value: unknown): boolean {
  let length = 0
  const passes = (each: unknown): boolean => {
    if (typeof each === 'string') length += each.length
    else if (typeof each === 'object' && each !== null) {
      for (const name in each) {
        length += name.length + 4
        if (passes((each as Record<string, unknown>)[name])) return true
      }
    }
    return length > longText
  }
  return passes(value)
}

function* written(writer: Writer, value: unknown): Generator<void> {
  if (typeof value === 'string') yield* quoted(writer, value)
  else if (Array.isArray(value)) {
    let before = '['
    for (const each of value) {
      yield* writer.add(before)
      yield* written(writer, each ?? null)
      before = ','
    }
    yield* writer.add(before === '[' ? '[]' : ']')
  } else if (typeof value === 'object' && value !== null) {
    let before = '{'
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined) continue
      yield* writer.add(before)
      yield* quoted(writer, name)
      yield* writer.add(':')
      yield* written(writer, inner)
      before = ','
    }
    yield* writer.add(before === '{' ? '{}' : '}')
  } else yield* writer.add(JSON.stringify(value))
}

function* quoted(writer: Writer, text: string): Generator<void> {
  if (text.length <= turnLength) {
    yield* writer.add(JSON.stringify(text))
    return
  }
  yield* writer.add('"')
  for (const stretch of stretchesOf(text)) yield* writer.add(JSON.stringify(stretch).slice(1, -1))
  yield* writer.add('"')
}

/** Keeps surrogate pairs together. */
function* stretchesOf(text: string): Generator<string> {
  let at = 0
  while (at < text.length) {
    const end = Math.min(at + turnLength, text.length)
    const isSplit = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    yield text.slice(at, isSplit ? end - 1 : end)
    at = isSplit ? end - 1 : end
  }
}

class Writer {
  readonly #chunks: Buffer[] = []
  #pending = ''

  #flush(): void {
    if (this.#pending !== '') this.#chunks.push(Buffer.from(this.#pending))
    this.#pending = ''
  }

  end(): Uint8Array {
    this.#flush()
    return Buffer.concat(this.#chunks)
  }

  /** Yields after each part. */
  *add(text: string): Generator<void> {
    if (text.length <= turnLength) {
      this.#pending += text
      if (this.#pending.length < turnLength) return
      this.#flush()
      yield
      return
    }
    this.#flush()
    for (const stretch of stretchesOf(text)) {
      this.#chunks.push(Buffer.from(stretch))
      yield
    }
  }
}
