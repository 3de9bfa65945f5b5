// Reads stretches of the journal in the database thread: the main thread only says where they are,
// because passing rows from thread to thread costs it several times as much.
import { disk } from '../../../../lib/disk.ts'
import { batchesIn, type RowTexts } from './batch-format.ts'
import type { Stretch } from './journal-files.ts'

export class StretchReader {
  #buffer: Buffer

  constructor() {
    this.#buffer = Buffer.allocUnsafeSlow(64 * 1024)
  }

  /** The batches up to that number, which must be the last one there; it fails at the end if not. */
  *read({ file, from, to }: Stretch, salt: bigint, lastNumber: number): Generator<RowTexts> {
    const length = to - from
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(length)
    const got = disk.read(file, this.#buffer, 0, length, from)
    let last = 0
    for (const batch of batchesIn(this.#buffer.subarray(0, got), salt)) {
      yield batch
      last = batch.number
    }
    if (last === lastNumber) return
    throw Object.assign(new Error('the journal cannot be read'), { code: 'SQLITE_IOERR_READ' })
  }
}
