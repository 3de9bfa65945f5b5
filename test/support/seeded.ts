// Random numbers that come again with the same seed, so that a failed run can be repeated.

/** Numbers from 0 up to 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** TEST_SEED, or a new one every run. */
export function testSeed(): number {
  const given = Number(process.env['TEST_SEED'])
  return Number.isSafeInteger(given) && given > 0 ? given : Date.now() % 1_000_000_007
}
