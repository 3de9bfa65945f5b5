// A place where files are kept by name. Knows bytes and names; not what they are, nor whose.
import type { ByteRange } from '../lib/http/byte-range.ts'

export interface Written {
  bytes: number
  /** Of the content, quoted as HTTP wants it: equal content, equal tag. */
  etag: string
}

export interface MediaStore {
  /** Tells places apart, also after a restart. */
  readonly place: string
  /** Under that name there is either the whole file or nothing. The body ends early by failing. */
  write(name: string, body: AsyncIterable<Uint8Array>): Promise<Written | { problem: string }>
  /** Undefined when there is no such file, or not all of the range. */
  open(name: string, range: ByteRange): Promise<ReadableStream<Uint8Array> | Blob | undefined>
  /** False when it could not be done; what is not there is removed already. */
  remove(name: string): Promise<boolean>
  /** Removes what writes that were cut off have left behind. */
  tidy(nowMs: number): Promise<void>
}

const plainName = /^[A-Za-z0-9_-]{1,128}(?:\.[a-z0-9]{1,8})?$/

/** Names are made by the gateway; one that leads elsewhere is a bug. */
export function checkName(name: string): string {
  if (!plainName.test(name)) throw new Error('a kept file has a name that may not be used')
  return name
}

/** Counts and tags what goes by. */
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
