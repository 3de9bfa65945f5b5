// What everything in one world shares: its time, its database, how bad things are right now, and what
// has been promised or done that the books must agree with.

import type { SimDatabase } from '../gateway/database.ts'
import type { Faults } from './faults.ts'
import { createRandom, type Random } from './random.ts'
import type { Proc, World } from './world.ts'

export interface Manners {
  /** How likely callers are to call a film off. */
  cancels: number
  /** How long upstreams let work wait, at most. */
  queueMs: number
  /** Between two wishes. */
  inputEveryMs: number
  /** How much of what is wanted is text. */
  text: number
  /** Everybody spends from one account. */
  oneAccount: boolean
  /** How far a clock may be off. */
  maxClockStepMs: number
  /** How often very many calls come at the same moment. */
  bursts: number
  /** How long ago a month has ended when the world begins; undefined: in the middle of one. */
  monthEndedMs: number | undefined
  /** How likely a call of text is to be reported with far more input than was sent. */
  overstated: number
}

/** The end of 2027-01, in which worlds at the border of a month begin or have just begun. */
const monthEndMs = Date.UTC(2027, 1, 1)

export class Stage {
  readonly world: World
  readonly db: SimDatabase
  readonly gateways: 1 | 3
  /** Replaced as a whole when they change. */
  faults: Faults
  /** How callers and upstreams of this world are. */
  readonly manners: Manners
  readonly random: Record<'store' | 'wire' | 'upstream' | 'reports' | 'process' | 'work', Random>
  storeAwayUntilMs = 0
  /** On the wall: from here on nothing goes wrong. */
  calmSinceMs = 0
  /** Whether the others may have given up a gateway that lives. */
  mayBeCutOff = false
  /** The database server does nothing until then; what was sent to it waits. */
  frozenUntilMs = 0

  constructor(world: World, db: SimDatabase, faults: Faults, gateways: 1 | 3) {
    this.world = world
    this.db = db
    this.faults = faults
    this.gateways = gateways
    const stream = (name: string) => createRandom(world.seed, name)
    this.random = {
      store: stream('store'),
      wire: stream('wire'),
      upstream: stream('upstream'),
      reports: stream('reports'),
      process: stream('process'),
      work: stream('work'),
    }
    const manners = stream('manners')
    this.manners = {
      cancels: manners.pick([0.1, 0.25, 0.7]),
      queueMs: manners.pick([2_000, 6_000, 20_000]),
      inputEveryMs: manners.pick([8, 60, 250, 900, 900, 1_400]),
      text: manners.pick([0.1, 0.2, 0.6]),
      oneAccount: manners.chance(0.3),
      maxClockStepMs: manners.pick(
        gateways === 1
          ? [45_000, 45_000, 300_000, 300_000, 1_200_000, 1_200_000]
          : [45_000, 45_000, 300_000, 1_200_000, 3_600_000, 90_000_000],
      ),
      bursts: manners.pick([0, 0, 1]),
      monthEndedMs: manners.pick([
        undefined,
        undefined,
        manners.whole(-20_000, 295_000),
        manners.whole(290_000, 320_000),
      ]),
      overstated: manners.pick([0, 0, 0, 0.3, 0.8]),
    }
    if (this.manners.monthEndedMs !== undefined)
      world.beginsMs = monthEndMs + this.manners.monthEndedMs
  }

  /** What it had begun in the database is undone; what it had sent goes on its way. */
  kill(proc: Proc, why: string): void {
    this.db.rollback()
    this.world.kill(proc, why)
  }

  get storeIsAway(): boolean {
    return this.world.nowMs < this.storeAwayUntilMs
  }

  get storeIsFrozen(): boolean {
    return this.world.nowMs < this.frozenUntilMs
  }
}
