// Numbers that look random and are the same for the same seed.

export interface Random {
  /** From 0 to 1, 1 not included. */
  next(): number
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number
  pick<T>(list: readonly T[]): T
  /** By weight. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T
  /** Around 1, mostly from 0.3 to 3: sizes and durations have a long tail. */
  spread(): number
  /** Hexadecimal digits. */
  hex(digits: number): string
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state are enough for pictures of a business.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)]!,
    weighted(list) {
      let left = next() * list.reduce((sum, { weight }) => sum + weight, 0)
      for (const each of list) {
        left -= each.weight
        if (left < 0) return each
      }
      return list.at(-1)!
    },
    spread: () => Math.exp((next() + next() + next() - 1.5) * 1.1),
    hex: (digits) => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  }
}
