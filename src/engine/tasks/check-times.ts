// When to ask about a task: late enough to be worth it, soon enough to be noticed. Learns how long
// tasks of each model usually take.

/** Usual durations by model. */
export type Durations = Map<string, number>

const soonestMs = 1_000
const latestMs = 15_000
/** Before this share of the usual time nothing is expected. */
const quietShare = 0.8
/** Later, the longer it takes, the less often. */
const growth = 0.15
const newsWeight = 0.2
const jitter = 0.1

export function learnDuration(durations: Durations, model: string, tookMs: number): void {
  const usual = durations.get(model)
  durations.set(model, usual === undefined ? tookMs : usual + (tookMs - usual) * newsWeight)
}

export const firstCheckMs = (durations: Durations, model: string): number =>
  Math.max(soonestMs, Math.min(60_000, (durations.get(model) ?? 0) * quietShare))

export function nextCheckMs(
  durations: Durations,
  model: string,
  elapsedMs: number,
  random: () => number,
): number {
  const quietMs = (durations.get(model) ?? 0) * quietShare - elapsedMs
  const plainMs = quietMs > soonestMs ? Math.min(quietMs, 60_000) : elapsedMs * growth
  const boundedMs = quietMs > soonestMs ? plainMs : Math.min(latestMs, Math.max(soonestMs, plainMs))
  return boundedMs * (1 + jitter * (random() * 2 - 1))
}

/** After a question that failed: back off, whatever is usual. */
export const afterFailureMs = (failures: number, random: () => number): number =>
  Math.min(60_000, 2_000 * 2 ** Math.min(failures, 5)) * (1 + jitter * (random() * 2 - 1))
