// A short name for a value that JSON can hold: equal values have the same one, in whatever order
// their keys came.
import { createHash, type Hash } from 'node:crypto'
import { nextTurn } from '../turns.ts'

/** SHA-256 in hex. Keys without a value count as absent. Long texts are hashed in several turns. */
export async function fingerprintOf(value: unknown): Promise<string> {
  const writer = new Writer()
  for (const _ of fed(writer, value)) await nextTurn()
  return writer.end()
}

/** Every part says its kind and size first, so that no two values read the same. */
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

/** Gathers small parts: hashing each of a million alone would take seconds. */
class Writer {
  readonly #hash: Hash = createHash('sha256')
  #pending = ''

  add(text: string): void {
    this.#pending += text
    if (this.#pending.length >= pieceLength) this.#flush()
  }

  /** Yields between stretches that take some milliseconds. */
  *addLong(text: string): Generator<void> {
    let at = 0
    while (text.length - at > turnLength) {
      // Two halves of one letter stay together.
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
