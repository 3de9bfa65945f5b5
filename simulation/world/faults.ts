// How bad a world is: every seed draws its own likelihoods, many of them nought, so that some worlds
// are calm, some have one kind of trouble and some have all of it. When faults are off, all are nought.
import { createRandom, type Random } from './random.ts'

export interface StoreFaults {
  /** The transaction is rolled back and said to have failed. */
  lost: number
  /** It is stored and said to have failed. */
  unknown: number
  /** It lost a race and is done again. Where several gateways share a database. */
  raced: number
  readFails: number
  /** How likely a commit is to take long, and how long. */
  slow: number
  slowMs: number
  /** Outages per minute, and how long one lasts. */
  outages: number
  outageMs: number
}

export interface WireFaults {
  /** Never arrives: no connection. */
  unreachable: number
  /** Arrives and is done; the connection breaks before an answer comes. */
  answerLost: number
  /** Arrives and is done; nothing is ever heard of it. */
  answerHangs: number
  answerSlow: number
  /** How long every way may take besides. */
  lagMs: number
  brokenOff: number
  /** Bursts of refusals per minute, and how long one lasts. */
  bursts: number
  burstMs: number
}

export interface UpstreamFaults {
  fails: number
  /** Ends as cancelled without being asked to. */
  dropsIt: number
  empty: number
  vanishes: number
  stuck: number
  late: number
  /** A state that was left already is told once more, or one that nobody knows. */
  regresses: number
  /** Told of as failed after it was told of as done, or the other way round. */
  contradicts: number
  twoIds: number
  partial: number
  noUsage: number
  refuses: number
  twins: number
}

export interface ProcessFaults {
  /** At each question and answer on the wire, and at each named point. */
  crash: number
  /** Before and after each commit. */
  crashAtCommit: number
  /** Per minute and gateway. */
  kills: number
  stops: number
  clockSteps: number
  /** The others cannot see it for a while. Where several gateways share a database. */
  partitions: number
}

export interface CallerFaults {
  answerLost: number
  hangsUp: number
  receiverFails: number
  receiverGone: number
}

export interface LaterFaults {
  /** Database servers that stop in the middle of everything, per minute. */
  freezes: number
  /** How likely they are to do so just when very many call. */
  freezesUnderLoad: number
  /** How likely a gateway is to die while its database is frozen. */
  diesFrozen: number
  /** How likely a call of text is to have read more than it was taken to have. */
  undercounted: number
}

export interface Faults {
  store: StoreFaults
  wire: WireFaults
  upstream: UpstreamFaults
  process: ProcessFaults
  callers: CallerFaults
  /** Drawn last, so that what older seeds have drawn stays. */
  later: LaterFaults
}

/** The most that any seed draws. */
export const ceilings: Faults = {
  store: {
    lost: 0.08,
    unknown: 0.12,
    raced: 0.1,
    readFails: 0.05,
    slow: 0.2,
    slowMs: 3_000,
    outages: 2,
    outageMs: 12_000,
  },
  wire: {
    unreachable: 0.2,
    answerLost: 0.3,
    answerHangs: 0.1,
    answerSlow: 0.3,
    lagMs: 4_000,
    brokenOff: 0.1,
    bursts: 2,
    burstMs: 15_000,
  },
  upstream: {
    fails: 0.3,
    dropsIt: 0.1,
    empty: 0.1,
    vanishes: 0.1,
    stuck: 0.1,
    late: 0.15,
    regresses: 0.4,
    contradicts: 0.3,
    twoIds: 0.2,
    partial: 0.4,
    noUsage: 0.3,
    refuses: 0.2,
    twins: 0.3,
  },
  process: { crash: 0.06, crashAtCommit: 0.015, kills: 4, stops: 1, clockSteps: 6, partitions: 4 },
  callers: { answerLost: 0.2, hangsUp: 0.15, receiverFails: 0.4, receiverGone: 0.1 },
  later: { freezes: 3, freezesUnderLoad: 1, diesFrozen: 1, undercounted: 0.5 },
}

const isCalm = 0.1
/** Of the kinds of faults, how many are there in a world that is not calm. */
const present = 0.6

export function drawFaults(seed: number): Faults {
  const random = createRandom(seed, 'faults')
  const isHealthy = random.chance(isCalm)
  return mapped(ceilings, (most) => drawn(random, isHealthy, most))
}

function drawn(random: Random, isHealthy: boolean, most: number): number {
  const [isThere, share] = [random.chance(present), random.next()]
  return isThere && !isHealthy ? most * share * share : 0
}

export const noFaults: Faults = mapped(ceilings, () => 0)

function mapped(faults: Faults, change: (most: number) => number): Faults {
  const groups = Object.entries(faults).map(([group, rates]) => [
    group,
    Object.fromEntries(
      Object.entries(rates as Record<string, number>).map(([name, most]) => [name, change(most)]),
    ),
  ])
  return Object.fromEntries(groups) as Faults
}
