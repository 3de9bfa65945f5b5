// What all parts of one world share: its time, its database, the current faults and the profile of its callers
// and upstreams.

import type { SimDatabase } from '../gateway/database.ts'
import type { Faults } from './faults.ts'
import type { Parts } from './parts.ts'
import { createRandom, type Random } from './random.ts'
import type { Proc } from './schedule.ts'
import type { World } from './world.ts'

interface Profile {
  /** How likely callers are to cancel a video. */
  cancels: number
  /** How long upstreams let work wait, at most. */
  queueMs: number
  /** Between two inputs. */
  inputEveryMs: number
  /** Share of text among the inputs. */
  text: number
  /** All callers use one account. */
  oneAccount: boolean
  /** How far a clock may be off. */
  maxClockStepMs: number
  /** How often very many calls come at once. */
  bursts: number
  /** How long ago a month has ended when the world begins; undefined: in the middle of one. */
  monthEndedMs: number | undefined
  /** How likely the upstream reports far more input of a text call than was sent. */
  overstated: number
}

/** The end of 2027-01; worlds at the end of a month start around it. */
const monthEndMs = Date.UTC(2027, 1, 1)

const streams = (stream: (name: string) => Random): SimContext['random'] => ({
  store: stream('store'),
  wire: stream('wire'),
  upstream: stream('upstream'),
  reports: stream('reports'),
  process: stream('process'),
  work: stream('work'),
  costs: stream('costs'),
  parts: stream('work of parts'),
})

/** The books of a month can be closed five minutes after its end. */
const monthEndedMs = (random: Random): number | undefined =>
  random.pick([
    undefined,
    random.whole(-8_000, 0),
    ...Array.from({ length: 3 }, () => random.whole(265_000, 302_000)),
  ])

export class SimContext {
  readonly world: World
  readonly db: SimDatabase
  readonly gateways: 1 | 3
  readonly parts: Parts
  /** Replaced as a whole when they change. */
  faults: Faults
  /** The profile of callers and upstreams. */
  readonly profile: Profile
  readonly random: Record<
    'store' | 'wire' | 'upstream' | 'reports' | 'process' | 'work' | 'costs' | 'parts',
    Random
  >
  storeAwayUntilMs = 0
  /** Wall time from which no faults happen. */
  calmSinceMs = 0
  /** Whether the others may have evicted a gateway that lives. */
  mayBeCutOff = false
  /** The database server is frozen until then; what was sent to it waits. */
  frozenUntilMs = 0

  constructor(world: World, db: SimDatabase, faults: Faults, gateways: 1 | 3, parts: Parts) {
    this.parts = parts
    this.world = world
    this.db = db
    this.faults = faults
    this.gateways = gateways
    const stream = (name: string) => createRandom(world.seed, name)
    this.random = streams(stream)
    // The name is part of the seed: another one would give other worlds.
    const profile = stream('manners')
    this.profile = {
      cancels: profile.pick([0.1, 0.25, 0.7]),
      queueMs: profile.pick([2_000, 6_000, 20_000]),
      inputEveryMs: profile.pick([8, 60, 250, 900, 900, 1_400]),
      text: profile.pick([0.1, 0.2, 0.6]),
      oneAccount: profile.chance(0.3),
      maxClockStepMs: profile.pick(
        gateways === 1
          ? [45_000, 45_000, 300_000, 300_000, 1_200_000, 1_200_000]
          : [45_000, 45_000, 300_000, 1_200_000, 3_600_000, 90_000_000],
      ),
      bursts: profile.pick([0, 0, 1]),
      monthEndedMs: profile.pick([
        undefined,
        undefined,
        profile.whole(-20_000, 295_000),
        profile.whole(290_000, 320_000),
      ]),
      overstated: profile.pick([0, 0, 0, 0.3, 0.8]),
    }
    if (parts.books) this.profile.monthEndedMs = monthEndedMs(stream('months'))
    if (this.profile.monthEndedMs !== undefined)
      world.beginsMs = monthEndMs + this.profile.monthEndedMs
  }

  /** Its open transaction is rolled back; what it has sent still arrives. */
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
