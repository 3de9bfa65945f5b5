// The fault rates of a world. Every seed draws its own, many of them zero, so that some worlds are calm, some
// have one kind of fault and some have all of them. Without faults all rates are zero.
import type { Parts } from './parts.ts'
import { createRandom, type Random } from './random.ts'

interface StoreFaults {
  /** The transaction is rolled back and reported as failed. */
  lost: number
  /** It is stored and reported as failed. */
  unknown: number
  /** A serialization failure, which is retried. Only on a shared database. */
  raced: number
  readFails: number
  /** How likely a commit is to take long, and how long. */
  slow: number
  slowMs: number
  /** Outages per minute, and how long one lasts. */
  outages: number
  outageMs: number
}

interface WireFaults {
  /** Never arrives: no connection. */
  unreachable: number
  /** Arrives and is done; the connection breaks before an answer comes. */
  answerLost: number
  /** Arrives and is done; no reply ever comes. */
  answerHangs: number
  answerSlow: number
  /** Additional delay of every message. */
  lagMs: number
  brokenOff: number
  /** Bursts of refusals per minute, and how long one lasts. */
  bursts: number
  burstMs: number
}

interface UpstreamFaults {
  fails: number
  /** Ends as cancelled without a request to cancel. */
  dropsIt: number
  empty: number
  vanishes: number
  stuck: number
  late: number
  /** An earlier state is reported again, or an unknown one. */
  regresses: number
  /** Reported as failed after it was reported as succeeded, or the other way round. */
  contradicts: number
  twoIds: number
  partial: number
  noUsage: number
  refuses: number
  twins: number
}

interface ProcessFaults {
  /** At each request and reply on the wire, and at each crash point. */
  crash: number
  /** Before and after each commit. */
  crashAtCommit: number
  /** Per minute and gateway. */
  kills: number
  stops: number
  clockSteps: number
  /** Cut off from the others for a while. Only on a shared database. */
  partitions: number
}

interface CallerFaults {
  answerLost: number
  hangsUp: number
  receiverFails: number
  receiverGone: number
}

interface LaterFaults {
  /** Freezes of the database server per minute. */
  freezes: number
  /** How likely a freeze is during a burst of calls. */
  freezesUnderLoad: number
  /** How likely a gateway is to die while its database is frozen. */
  diesFrozen: number
  /** How likely a text call has more input than was estimated. */
  undercounted: number
}

/** Only where a world has the part that they are about. */
interface PartFaults {
  /** A stream reports its usage and then an error. */
  spoiled: number
}

export interface Faults {
  store: StoreFaults
  wire: WireFaults
  upstream: UpstreamFaults
  process: ProcessFaults
  callers: CallerFaults
  /** Drawn last, so that older seeds keep their values. */
  later: LaterFaults
  parts: PartFaults
}

/** The maximum of every rate. */
const ceilings: Faults = {
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
  parts: { spoiled: 0.5 },
}

/** Gateways die, and do not learn what was stored, far more often. */
const heavyCeilings: Faults = {
  ...ceilings,
  store: { ...ceilings.store, unknown: 0.4 },
  process: { ...ceilings.process, kills: 40 },
}

const calmShare = 0.1
/** Share of the kinds of faults that a world has, unless it is calm. */
const present = 0.6

export function drawFaults(seed: number, isHeavy: boolean, parts: Parts): Faults {
  const random = createRandom(seed, 'faults')
  const isCalm = random.chance(calmShare)
  const faults = mapped(isHeavy ? heavyCeilings : ceilings, (max) => drawn(random, isCalm, max))
  return parts.books ? faults : { ...faults, parts: noFaults.parts }
}

function drawn(random: Random, isCalm: boolean, max: number): number {
  const [isThere, share] = [random.chance(present), random.next()]
  return isThere && !isCalm ? max * share * share : 0
}

export const noFaults: Faults = mapped(ceilings, () => 0)

function mapped(faults: Faults, change: (max: number) => number): Faults {
  const groups = Object.entries(faults).map(([group, rates]) => [
    group,
    Object.fromEntries(
      Object.entries(rates as Record<string, number>).map(([name, max]) => [name, change(max)]),
    ),
  ])
  return Object.fromEntries(groups) as Faults
}
