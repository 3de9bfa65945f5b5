// When a callback is retried: ten attempts over three days, as Standard Webhooks has it, with
// jitter so that callbacks that failed together do not retry together.

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** Before each attempt; the first is immediate. */
export const waitsMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
/** Jitter in each direction. */
const jitter = 0.1

/** The maximum of these waits, by number of attempts. */
export const maxWaitsMs: readonly number[] = waitsMs.map((ms) => ms * (1 + jitter))

/** The wait after this many attempts; undefined when there have been enough. */
export function waitAfter(attempts: number, random: () => number): number | undefined {
  const waitMs = waitsMs[attempts]
  return waitMs && Math.round(waitMs * (1 - jitter + 2 * jitter * random()))
}
