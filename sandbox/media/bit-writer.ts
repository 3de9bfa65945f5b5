// Writes bits, first the most significant, as video headers want them. Knows no syntax.

export class BitWriter {
  readonly #bytes: number[] = []
  #pending = 0
  #pendingBits = 0

  /** At most 24 bits at once. */
  bits(value: number, count: number): void {
    this.#pending = (this.#pending << count) | value
    this.#pendingBits += count
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8
      this.#bytes.push((this.#pending >>> this.#pendingBits) & 0xff)
    }
    this.#pending &= (1 << this.#pendingBits) - 1
  }

  /** Exponential Golomb code: 0 -> 1, 1 -> 010, 2 -> 011, 3 -> 00100 */
  golomb(value: number): void {
    const length = 32 - Math.clz32(value + 1)
    this.bits(0, length - 1)
    this.bits(value + 1, length)
  }

  /** Zeros up to the next whole byte. */
  align(): void {
    if (this.#pendingBits > 0) this.bits(0, 8 - this.#pendingBits)
  }

  /** A one, and zeros up to the next whole byte. */
  end(): readonly number[] {
    this.bits(1, 1)
    this.align()
    return this.#bytes
  }
}
