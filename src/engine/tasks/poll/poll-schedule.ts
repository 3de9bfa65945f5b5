// When to poll a task: as soon as the delay in noticing its end may be worth a request. Learns from
// every poll, also of tasks still running, how likely tasks of a model are to end at which age.
// Knows no task, no clock and no upstream.

/** Statistics of one model, by age in steps of a few per cent. */
interface Learned {
  /** How many ended at that age. */
  ended: Float64Array
  /** Total time that tasks of that age were observed. */
  watchedMs: Float64Array
  /** Number of counted ends. */
  total: number
}

/** By model. */
export type Durations = Map<string, Learned>

/** 256 steps of 5 % reach from half a second to more than a day. */
const steps = 256
const stepRatio = 1.05
const firstStepMs = 500
/** At this count, all statistics are halved: new data soon outweighs old. */
const maxCounted = 4096
const maxModels = 4096

/** A poll is worth it when the expected delay since the end reaches this, */
const worthMs = 500
/** or when the delay exceeds that with this probability. */
const lateShare = 0.01
const lateMs = 3_300
/** Prior: without data, one task in this many is assumed to end at about any age. */
const guessWeight = 0.2
/** An end lies between the last two polls, hardly further back than this share of its age. */
const vagueShare = 0.2

const minMs = 1_000
/** The first poll comes early, so that callers see it run and failures are noticed. */
const firstShare = 0.25
const latestFirstMs = 10_000
/** No wait is longer than the task's age, so that a faster model is noticed. */
const latestMs = 120_000
const jitter = 0.1
/** Maximum time between two polls of a running task. */
export const maxCheckMs = latestMs * (1 + jitter)
/** Fewer ends than this give no usual duration. */
const minUsual = 3
const dayMs = 24 * 3_600_000

/** A task had ended at this age, and not yet at the age of the previous poll. */
export function learnDuration(
  durations: Durations,
  model: string,
  tookMs: number,
  sinceMs = 0,
): void {
  const known = learned(durations, model)
  const vagueMs = Math.max(sinceMs, tookMs * (1 - vagueShare))
  watch(known, sinceMs, vagueMs, 1, 0)
  watch(known, vagueMs, Math.max(tookMs, vagueMs + 1), 0.5, 1)
  known.total += 1
  if (known.total < maxCounted) return
  known.total /= 2
  known.ended = known.ended.map((count) => count / 2)
  known.watchedMs = known.watchedMs.map((ms) => ms / 2)
}

export function firstCheckMs(durations: Durations, model: string): number {
  const known = durations.get(model)
  if (known === undefined) return minMs
  return within(minMs, worthwhileMs(known, 0) * firstShare, latestFirstMs)
}

/** The wait after a task was running at this age, and at that of the previous poll. */
export function nextCheckMs(
  durations: Durations,
  model: string,
  elapsedMs: number,
  random: () => number,
  sinceMs = elapsedMs,
): number {
  const known = learned(durations, model)
  watch(known, sinceMs, elapsedMs, 1, 0)
  const maxMs = within(latestFirstMs, elapsedMs, latestMs)
  return within(minMs, worthwhileMs(known, elapsedMs), maxMs) * jittered(random)
}

/** How long a task of the model usually takes; undefined while too few have ended to say. */
export function medianMs(durations: Durations, model: string): number | undefined {
  const known = durations.get(model)
  if (known === undefined || known.total < minUsual) return undefined
  let left = known.ended.reduce((sum, count) => sum + count, 0) / 2
  const step = known.ended.findIndex((count) => {
    left -= count
    return left <= 0
  })
  const share = 1 + left / known.ended[step]!
  return Math.round(startOf[step]! + share * (Math.min(endOf(step), dayMs) - startOf[step]!))
}

/** After a failed poll: back off, whatever is usual. */
export const afterFailureMs = (failures: number, random: () => number): number =>
  Math.min(60_000, 2_000 * 2 ** Math.min(failures, 5)) * jittered(random)

const jittered = (random: () => number): number => 1 + jitter * (random() * 2 - 1)

/** Spreads observed time and ends evenly over an interval of ages. */
function watch(known: Learned, fromMs: number, toMs: number, share: number, ends: number): void {
  if (toMs <= fromMs) return
  const last = stepOf(toMs)
  for (let step = stepOf(fromMs); step <= last; step++) {
    const ms = Math.max(0, Math.min(toMs, endOf(step)) - Math.max(fromMs, startOf[step]!))
    known.watchedMs[step]! += ms * share
    known.ended[step]! += (ms * ends) / (toMs - fromMs)
  }
}

/** From this age on: when the expected delay reaches its worth, or lateness becomes likely. */
function worthwhileMs({ ended, watchedMs }: Learned, elapsedMs: number): number {
  let atMs = elapsedMs
  let expected = 0
  let delayMs = 0
  let untilMs = Number.POSITIVE_INFINITY
  for (let step = stepOf(elapsedMs); step < steps - 1 && atMs < untilMs; step++) {
    const ms = endOf(step) - atMs
    const guessedMs = guessWeight * (endOf(step) - startOf[step]!)
    const rate = (ended[step]! + guessWeight * (stepRatio - 1)) / (watchedMs[step]! + guessedMs)
    if (expected < lateShare && expected + rate * ms >= lateShare) {
      untilMs = atMs + (lateShare - expected) / rate + lateMs
    }
    const moreMs = expected * ms + (rate * ms * ms) / 2
    if (delayMs + moreMs >= worthMs) {
      const root = Math.sqrt(expected * expected + 2 * rate * (worthMs - delayMs))
      return Math.min(atMs + (root - expected) / rate, untilMs) - elapsedMs
    }
    delayMs += moreMs
    expected += rate * ms
    atMs += ms
  }
  return Math.min(atMs, untilMs) - elapsedMs
}

const startOf = Float64Array.from({ length: steps }, (_, step) =>
  step === 0 ? 0 : firstStepMs * stepRatio ** step,
)
const endOf = (step: number): number => startOf[step + 1] ?? Number.POSITIVE_INFINITY
const stepOf = (ms: number): number => {
  const step = Math.floor(Math.log(Math.max(1, ms / firstStepMs)) / Math.log(stepRatio) + 1e-9)
  return Math.min(steps - 1, step)
}

function learned(durations: Durations, model: string): Learned {
  let known = durations.get(model)
  if (known === undefined) {
    // Names may carry dates, so their number is unbounded.
    if (durations.size >= maxModels) durations.delete(durations.keys().next().value!)
    known = { ended: new Float64Array(steps), watchedMs: new Float64Array(steps), total: 0 }
    durations.set(model, known)
  }
  return known
}

const within = (min: number, value: number, max: number): number =>
  Math.max(min, Math.min(max, value))
