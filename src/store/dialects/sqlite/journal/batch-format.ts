// Bytes of one batch in a journal file: lengths, number, checksum, then its rows as text. Knows
// neither files nor the database.

/** Rows of a batch as text; see group-commit-rows.ts. */
export interface RowTexts {
  readonly requests: string
  readonly losses: string
}

/** As they are read: version 0.3 wrote the charges of calls apart. */
export interface ReadTexts extends RowTexts {
  readonly entries: string
}

export interface JournalBatch extends RowTexts {
  /** Batches are numbered without gaps. */
  readonly number: number
}

/** Only tests write it as 0.3 did. */
type WrittenBatch = JournalBatch & Partial<ReadTexts>

const magic = 0x4d474a31
/** Magic, byte length, characters of requests and of entries (none any more), number, checksum. */
const headBytes = 32
const checksumAt = 24
const maxBytesPerCharacter = 3

/** Writes batches into one buffer, which is used again: a batch is written before the next. */
export class BatchEncoder {
  readonly #salt: bigint
  #buffer = Buffer.allocUnsafeSlow(64 * 1024)

  /** `salt`: secret, so that no text of a caller can look like a batch. */
  constructor(salt: bigint) {
    this.#salt = salt
  }

  /** Valid until the next call. */
  encode({ number, requests, entries = '', losses }: WrittenBatch): Buffer {
    const text = requests + entries + losses
    const room = headBytes + text.length * maxBytesPerCharacter
    if (this.#buffer.length < room) this.#buffer = Buffer.allocUnsafeSlow(room)
    const buffer = this.#buffer
    const length = buffer.write(text, headBytes)
    buffer.writeUInt32LE(magic, 0)
    buffer.writeUInt32LE(length, 4)
    buffer.writeUInt32LE(requests.length, 8)
    buffer.writeUInt32LE(entries.length, 12)
    buffer.writeDoubleLE(number, 16)
    const bytes = buffer.subarray(0, headBytes + length)
    buffer.writeBigUInt64LE(checksumOf(bytes, this.#salt), checksumAt)
    return bytes
  }
}

/** Complete batches from the start, with ascending numbers; what follows is torn or older. */
export function* batchesIn(bytes: Buffer, salt: bigint): Generator<JournalBatch & ReadTexts> {
  let last = 0
  for (let at = 0; at + headBytes <= bytes.length; ) {
    if (bytes.readUInt32LE(at) !== magic) return
    const end = at + headBytes + bytes.readUInt32LE(at + 4)
    if (end > bytes.length) return
    const batch = bytes.subarray(at, end)
    const number = batch.readDoubleLE(16)
    const isWhole = batch.readBigUInt64LE(checksumAt) === checksumOf(batch, salt)
    if (!isWhole || number <= last) return
    yield { number, ...textsOf(batch) }
    last = number
    at = end
  }
}

function textsOf(batch: Buffer): ReadTexts {
  const entriesAt = batch.readUInt32LE(8)
  const lossesAt = entriesAt + batch.readUInt32LE(12)
  const text = batch.toString('utf8', headBytes)
  return {
    requests: text.slice(0, entriesAt),
    entries: text.slice(entriesAt, lossesAt),
    losses: text.slice(lossesAt),
  }
}

/** Of everything but itself: detects a batch that the process or machine did not finish writing. */
function checksumOf(batch: Buffer, salt: bigint): bigint {
  const ofHead = Bun.hash.xxHash3(batch.subarray(0, checksumAt), salt)
  return Bun.hash.xxHash3(batch.subarray(headBytes), ofHead)
}
