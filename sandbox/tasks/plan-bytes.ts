// The few bytes that an id carries, written and read one field after the other, and the letters
// they become. Knows nothing of tasks.

/** Ids are copied by hand and put into addresses: lower case only, nothing easily mistaken. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz'
const bitsPerLetter = 5
/** Words that would make an id longer than people like to read are left out. */
const maxBytesWithWords = 42

export class PlanWriter {
  readonly #bytes: number[] = []

  /** A whole number from 0; the smaller it is, the shorter. */
  whole(value: number): void {
    let left = value
    for (; left >= 128; left = Math.floor(left / 128)) this.#bytes.push((left % 128) + 128)
    this.#bytes.push(left)
  }

  hex(digits: string): void {
    this.#bytes.push(...Buffer.from(digits, 'hex'))
  }

  text(value: string): void {
    const bytes = Buffer.from(value)
    this.whole(bytes.length)
    this.#bytes.push(...bytes)
  }

  /** What may be missing later on. It comes last, when it is known how much room there is. */
  words(value: string | undefined): void {
    const size = Buffer.byteLength(value ?? '')
    const fits = value !== undefined && this.#bytes.length + size < maxBytesWithWords
    this.whole(fits ? 1 : 0)
    if (fits) this.text(value)
  }

  done(): Buffer {
    return Buffer.from(this.#bytes)
  }
}

/** Beyond the end there are zeros. */
export class PlanReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  whole(): number {
    let value = 0
    for (let scale = 1; scale <= Number.MAX_SAFE_INTEGER; scale *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte % 128) * scale
      if (byte < 128) break
    }
    return value
  }

  hex(bytes: number): string {
    return this.#take(bytes).toString('hex')
  }

  text(): string {
    return this.#take(this.whole()).toString()
  }

  words(): string | undefined {
    return this.whole() === 1 ? this.text() : undefined
  }

  #take(bytes: number): Buffer {
    const from = this.#at
    this.#at += bytes
    return Buffer.from(this.#bytes.subarray(from, this.#at))
  }
}

export function toLetters(bytes: Uint8Array): string {
  let text = ''
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= bitsPerLetter; ) {
      bits -= bitsPerLetter
      text += letters[(held >> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + letters[(held << (bitsPerLetter - bits)) & 31]
}

/** Undefined when a letter is none of ours. Bits left over at the end are dropped. */
export function fromLetters(text: string): Buffer | undefined {
  const bytes: number[] = []
  let held = 0
  let bits = 0
  for (const letter of text) {
    const value = letters.indexOf(letter)
    if (value === -1) return undefined
    held = (held << bitsPerLetter) | value
    bits += bitsPerLetter
    if (bits < 8) continue
    bits -= 8
    bytes.push(held >> bits)
    held &= (1 << bits) - 1
  }
  return Buffer.from(bytes)
}
