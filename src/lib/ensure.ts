// Assertions that stay on in production: a broken invariant stops the work at hand, loudly.

export function ensure(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${what}`)
}

/** The compiler proves this unreachable; the process proves it again. */
export function never(value: never): never {
  throw new Error(`unreachable: ${String(value)}`)
}
