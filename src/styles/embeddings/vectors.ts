// The two encodings of a vector: numbers, and Base64 of little-endian 32-bit floats.
//   [1, -2] <-> 'AACAPwAAAMA='

const floatBytes = 4

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Undefined when it is no list of numbers in the range of such floats. */
export function asBase64(numbers: readonly unknown[]): string | undefined {
  if (numbers.length === 0) return undefined
  const bytes = Buffer.alloc(numbers.length * floatBytes)
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) return undefined
    bytes.writeFloatLE(value, i * floatBytes)
  }
  return bytes.toString('base64')
}

/** Undefined when it is no such text. A number holds every 32-bit float exactly. */
export function asFloats(text: string): number[] | undefined {
  if (!base64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % floatBytes !== 0) return undefined
  const numbers = new Array<number>(bytes.length / floatBytes)
  for (let i = 0; i < numbers.length; i++) {
    const value = bytes.readFloatLE(i * floatBytes)
    if (!Number.isFinite(value)) return undefined
    numbers[i] = value
  }
  return numbers
}
