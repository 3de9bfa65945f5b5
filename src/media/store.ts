// A store of files by name. Knows bytes and names, not what the files are or who owns them.
import type { ByteRange } from '../lib/http/byte-range.ts'

export interface Written {
  bytes: number
  /** Of the content, quoted as in HTTP: equal content has equal tags. */
  etag: string
}

export interface MediaStore {
  /** Identifies the store, also after a restart. */
  readonly place: string
  /** All or nothing: a body that fails leaves no file under the name. */
  write(name: string, body: AsyncIterable<Uint8Array>): Promise<Written | { problem: string }>
  /** Undefined when the file does not exist or is shorter than the range. */
  open(name: string, range: ByteRange): Promise<ReadableStream<Uint8Array> | Blob | undefined>
  /** False when it failed; a missing file counts as removed. */
  remove(name: string): Promise<boolean>
  /** Removes leftovers of interrupted writes. */
  tidy(nowMs: number): Promise<void>
}

const plainName = /^[A-Za-z0-9_-]{1,128}(?:\.[a-z0-9]{1,8})?$/

/** The gateway makes the names; one that leads out of the store is a bug. */
export function checkName(name: string): string {
  if (!plainName.test(name)) throw new Error('a kept file has a name that may not be used')
  return name
}

/** Counts bytes and computes the tag. */
export class Tally {
  bytes = 0
  readonly #hash = new Bun.CryptoHasher('sha256')

  add(piece: Uint8Array): void {
    this.bytes += piece.byteLength
    this.#hash.update(piece)
  }

  end(): Written {
    return { bytes: this.bytes, etag: `"${this.#hash.digest('hex').slice(0, 32)}"` }
  }
}

export const problemOf = (error: unknown): { problem: string } => ({
  problem: error instanceof Error ? error.message : String(error),
})
