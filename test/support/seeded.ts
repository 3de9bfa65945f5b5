// Random numbers that come again with the same seed, so that a failed run can be repeated.

/** Of every run that does not ask for another one. */
export const usualSeed = 20_261_117

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

/** TEST_SEED: a number, or `random` for a new one; without it the same seed every time. */
export function testSeed(given = process.env['TEST_SEED']): number {
  if (given === 'random') return 1 + (Date.now() % 1_000_000_007)
  const seed = Number(given)
  return Number.isSafeInteger(seed) && seed > 0 ? seed : usualSeed
}
