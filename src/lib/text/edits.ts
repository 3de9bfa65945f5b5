// Changes to a buffer: stretches of its bytes and what replaces them, made at once. Where
// nothing is longer than what it replaces they are made in place: for a stream, a buffer less for each read is a
// third less for the collector.

export class Edits {
  /** Start and end of each stretch, in order. */
  readonly #places: number[] = []
  readonly #bytes: Uint8Array[] = []
  #growth = 0
  #fits = true

  /** Behind all earlier ones. */
  replace(from: number, to: number, bytes: Uint8Array): void {
    const growth = bytes.length - (to - from)
    this.#places.push(from, to)
    this.#bytes.push(bytes)
    this.#growth += growth
    if (growth > 0) this.#fits = false
  }

  /** The read up to `end`, with all changes; undefined when nothing is left. It may be changed itself. */
  apply(read: Buffer, end: number): Buffer | undefined {
    if (end + this.#growth === 0) return undefined
    if (this.#bytes.length === 0) return end === read.length ? read : read.subarray(0, end)
    return this.#fits ? this.#inPlace(read, end) : this.#copied(read, end)
  }

  /** From the last to the first: what is in between moves towards the end. */
  #inPlace(read: Buffer, end: number): Buffer {
    let [kept, written] = [end, end]
    for (let i = this.#bytes.length - 1; i >= 0; i--) {
      const bytes = this.#bytes[i]!
      const behind = this.#places[2 * i + 1]!
      written -= kept - behind
      if (written !== behind) read.copyWithin(written, behind, kept)
      written -= bytes.length
      put(read, written, bytes)
      kept = this.#places[2 * i]!
    }
    written -= kept
    if (written !== 0) read.copyWithin(written, 0, kept)
    return written === 0 && end === read.length ? read : read.subarray(written, end)
  }

  #copied(read: Buffer, end: number): Buffer {
    const out = Buffer.allocUnsafe(end + this.#growth)
    let [at, written] = [0, 0]
    for (let i = 0; i < this.#bytes.length; i++) {
      const bytes = this.#bytes[i]!
      written += read.copy(out, written, at, this.#places[2 * i]!)
      put(out, written, bytes)
      written += bytes.length
      at = this.#places[2 * i + 1]!
    }
    read.copy(out, written, at, end)
    return out
  }
}

/** A name is shorter than a call that copies it takes. */
const shortBytes = 48

function put(out: Buffer, at: number, bytes: Uint8Array): void {
  if (bytes.length > shortBytes) out.set(bytes, at)
  else for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i]!
}
