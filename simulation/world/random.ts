// Random numbers from a seed: the same seed and name give the same numbers on every machine.

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  chance(likelihood: number): boolean
  /** Any number between, with fractions. */
  between(min: number, max: number): number
  whole(min: number, max: number): number
  pick<T>(from: readonly T[]): T
  fill<T extends ArrayBufferView | null>(bytes: T): T
}

/** Streams of different names are independent. */
export function createRandom(seed: number, name: string): Random {
  let [a, b, c, counter] = [hashOf(`${seed}`), hashOf(name), hashOf(`${name}:${seed}`), 1]
  const u32 = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  for (let warmUp = 0; warmUp < 12; warmUp++) u32()
  const next = () => u32() / 2 ** 32
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    whole,
    chance: (likelihood) => likelihood > 0 && next() < likelihood,
    between: (min, max) => min + next() * (max - min),
    pick: (from) => from[whole(0, from.length - 1)]!,
    fill(bytes) {
      if (bytes === null) return bytes
      const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (let i = 0; i < view.length; i++) view[i] = u32() & 255
      return bytes
    },
  }
}

function hashOf(text: string): number {
  let hash = 2166136261
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619)
  return hash | 0
}
