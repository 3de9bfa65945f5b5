// A short name for a value that JSON can hold: equal values have the same one, in whatever order
// their keys came.
import { createHash, type Hash } from 'node:crypto'

/** SHA-256 in hex. Keys without a value count as absent. */
export function fingerprintOf(value: unknown): string {
  const writer = new Writer()
  feed(writer, value)
  return writer.end()
}

/** Every part says its kind and size first, so that no two values read the same. */
function feed(writer: Writer, value: unknown): void {
  if (typeof value === 'string') {
    writer.add(`s${value.length}:`)
    writer.add(value)
  } else if (Array.isArray(value)) {
    writer.add(`[${value.length}:`)
    for (const each of value) feed(writer, each)
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, inner]) => inner !== undefined)
    writer.add(`{${fields.length}:`)
    for (const [name, inner] of fields.toSorted(byName)) {
      feed(writer, name)
      feed(writer, inner)
    }
  } else writer.add(`${String(value)};`)
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

const pieceLength = 65_536

/** Gathers small parts: hashing each of a million alone would take seconds. */
class Writer {
  readonly #hash: Hash = createHash('sha256')
  #pending = ''

  add(text: string): void {
    this.#pending += text
    if (this.#pending.length >= pieceLength) this.#flush()
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
