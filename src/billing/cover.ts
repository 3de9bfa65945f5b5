// How much of what is wanted a balance covers.

export function sumNanos(amounts: readonly bigint[]): bigint {
  let sum = 0n
  for (const nanos of amounts) sum += nanos
  return sum
}

/** How many of these amounts, from the first, the balance covers together. */
export function coveredCount(amounts: readonly bigint[], balanceNanos: bigint): number {
  let left = balanceNanos
  for (const [at, nanos] of amounts.entries()) {
    left -= nanos
    if (left < 0n) return at
  }
  return amounts.length
}
