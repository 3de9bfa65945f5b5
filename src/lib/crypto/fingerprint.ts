// A fingerprint of a JSON value: equal values have the same one, whatever the order of their keys.
import { createHash, type Hash } from 'node:crypto'
import { nextTurn } from '../turns.ts'

/** SHA-256 in hex. Undefined properties count as absent. Long texts are hashed in several turns. */
export async function fingerprintOf(value: unknown): Promise<string> {
  const writer = new Writer()
  for (const _ of fed(writer, value)) await nextTurn()
  return writer.end()
}

/** Every part is prefixed with its kind and size, so that no two values encode the same. */
function* fed(writer: Writer, value: unknown): Generator<void> {
  if (typeof value === 'string') {
    writer.add(`s${value.length}:`)
    yield* writer.addLong(value)
  } else if (Array.isArray(value)) {
    writer.add(`[${value.length}:`)
    for (const each of value) yield* fed(writer, each)
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, inner]) => inner !== undefined)
    writer.add(`{${fields.length}:`)
    for (const [name, inner] of fields.toSorted(byName)) {
      yield* fed(writer, name)
      yield* fed(writer, inner)
    }
  } else writer.add(`${String(value)};`)
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

const pieceLength = 65_536
const turnLength = 2 * 1024 * 1024

/** Buffers small parts: hashing a million of them one by one would take seconds. */
class Writer {
  readonly #hash: Hash = createHash('sha256')
  #pending = ''

  add(text: string): void {
    this.#pending += text
    if (this.#pending.length >= pieceLength) this.#flush()
  }

  /** Yields between parts that take some milliseconds. */
  *addLong(text: string): Generator<void> {
    let at = 0
    while (text.length - at > turnLength) {
      // Keeps surrogate pairs together.
      const end = at + turnLength - (isHighHalf(text.charCodeAt(at + turnLength - 1)) ? 1 : 0)
      this.add(text.slice(at, end))
      at = end
      yield
    }
    this.add(at === 0 ? text : text.slice(at))
  }

  #flush(): void {
    this.#hash.update(this.#pending, 'utf8')
    this.#pending = ''
  }

  end(): string {
    this.#flush()
    return this.#hash.digest('hex')
  }
}

const isHighHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
