// Assertions that stay on in production: a broken invariant stops the work at hand, loudly.

export function ensure(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${what}`)
}
