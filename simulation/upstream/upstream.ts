// The simulated upstream and its log: every piece of work it accepted, how that really ends, and what it
// has reported of it. Knows no wire format; that is in wire-*.ts.
import type { SimContext } from '../world/context.ts'

type WorkKind = 'video' | 'image' | 'text' | 'response'
type WorkEnd = 'succeeded' | 'failed' | 'cancelled'
export type ReportedState = 'queued' | 'running' | 'unrecognized' | 'missing' | 'empty' | WorkEnd

/** One piece of work, as it really is. */
export interface Work {
  readonly id: string
  readonly kind: WorkKind
  readonly protocol: string
  readonly model: string
  readonly prompt: string
  /** Of a text call. */
  readonly channel?: string
  /** The process that has sent it. */
  readonly from?: string
  /** The gateway's own id for it, if it sends one. */
  readonly marker: string | undefined
  readonly createdMs: number
  /** A duplicate of the same create. */
  readonly isExtra: boolean
  readonly startsMs: number
  readonly endsMs: number
  readonly fate: WorkEnd | 'empty' | 'vanishes' | 'stuck'
  readonly contradicts: boolean
  /** The usage: seconds, tokens or images; undefined where it is not reported. */
  readonly quantity: number | undefined
  readonly requested: number
  /** Input tokens of a text call. */
  readonly inputTokens: number
  readonly lines?: number
  cancelledMs: number | undefined
  /** The ends that were reported, in order. */
  readonly reported: WorkEnd[]
  /** A gateway has read its usage. */
  isTold?: true
}

interface Input {
  kind: WorkKind
  protocol: string
  model: string
  prompt: string
  channel?: string
  from?: string
  marker?: string | undefined
  /** Seconds, tokens or images. */
  requested: number
  lines?: number
}

/** Longer than any gateway of a world waits. */
const lateMs = 90_000

export class Upstream {
  readonly works = new Map<string, Work>()
  /** How often each prompt has arrived, and each marker. */
  readonly arrivals = new Map<string, number>()
  readonly #context: SimContext
  #ids = 0
  #burstUntilMs = 0

  constructor(context: SimContext) {
    this.#context = context
  }

  /** Until then it refuses every request. */
  burst(forMs: number): void {
    this.#burstUntilMs = this.#context.world.nowMs + forMs
  }

  get isBusy(): boolean {
    return this.#context.world.nowMs < this.#burstUntilMs
  }

  /** A create has arrived: one piece of work, sometimes two. */
  make(input: Input): Work[] {
    const { random, faults, world } = this.#context
    this.#count(`prompt ${input.prompt}`)
    if (input.marker !== undefined) this.#count(`marker ${input.marker}`)
    const made = [this.#one(input, false)]
    const mayBeTwo = input.protocol === 'vf' || input.protocol === 'arkvendor'
    if (mayBeTwo && random.upstream.chance(faults.upstream.twoIds))
      made.push(this.#one(input, true))
    world.note(`upstream makes ${made.map(({ id, fate }) => `${id} (${fate})`).join(' and ')}`)
    return made
  }

  #count(name: string): void {
    this.arrivals.set(name, (this.arrivals.get(name) ?? 0) + 1)
  }

  #one(input: Input, isExtra: boolean): Work {
    const { random, faults, world } = this.#context
    const { upstream } = random
    const createdMs = world.wallMs(undefined)
    const startsMs = createdMs + upstream.between(100, this.#context.profile.queueMs)
    const isLate = upstream.chance(faults.upstream.late)
    const endsMs = startsMs + upstream.between(300, 15_000) + (isLate ? lateMs : 0)
    const work: Work = {
      ...input,
      marker: input.marker,
      id: `${input.protocol}-${++this.#ids}`,
      createdMs,
      isExtra,
      startsMs,
      endsMs,
      fate: this.#fate(),
      contradicts: upstream.chance(faults.upstream.contradicts),
      quantity: this.#quantity(input),
      inputTokens: this.#inputTokens(),
      cancelledMs: undefined,
      reported: [],
    }
    this.works.set(work.id, work)
    return work
  }

  #fate(): Work['fate'] {
    const { random, faults } = this.#context
    const { fails, dropsIt, empty, vanishes, stuck } = faults.upstream
    if (random.upstream.chance(fails)) return 'failed'
    if (random.upstream.chance(dropsIt)) return 'cancelled'
    if (random.upstream.chance(empty)) return 'empty'
    if (random.upstream.chance(vanishes)) return 'vanishes'
    return random.upstream.chance(stuck) ? 'stuck' : 'succeeded'
  }

  #quantity({ kind, requested }: Input): number | undefined {
    const { random, faults } = this.#context
    if (kind === 'image') {
      return random.upstream.chance(faults.upstream.partial)
        ? random.upstream.whole(1, requested)
        : requested
    }
    if (random.upstream.chance(faults.upstream.noUsage)) return undefined
    // Sometimes it reports more than was requested.
    return Math.max(1, Math.round(requested * random.upstream.pick([1, 1, 1, 0.5, 0.8, 1.3])))
  }

  #inputTokens(): number {
    const { random, faults, profile } = this.#context
    if (random.reports.chance(profile.overstated)) return random.reports.whole(50_000, 200_000)
    const isMore = random.upstream.chance(faults.later.undercounted)
    return isMore ? random.upstream.whole(200, 40_000) : 100
  }

  /** The state that a poll returns, true or not; reported ends are logged. */
  report(id: string): ReportedState {
    const work = this.works.get(id)
    if (work === undefined) return 'missing'
    const state = this.#stateToReport(work)
    if (state === 'succeeded' || state === 'failed' || state === 'cancelled')
      work.reported.push(state)
    return state
  }

  #stateToReport(work: Work): ReportedState {
    const { random, faults, world } = this.#context
    const nowMs = world.wallMs(undefined)
    if (work.cancelledMs !== undefined) return 'cancelled'
    if (nowMs < work.startsMs) return 'queued'
    if (work.fate === 'vanishes') return 'missing'
    if (nowMs < work.endsMs || work.fate === 'stuck') {
      const isOff = random.upstream.chance(faults.upstream.regresses)
      return isOff ? random.upstream.pick(['queued', 'unrecognized'] as const) : 'running'
    }
    if (random.upstream.chance(faults.upstream.regresses / 4)) return 'running'
    if (work.fate === 'empty') return 'empty'
    const isOther = work.contradicts && work.reported.length > 0
    if (!isOther) return work.fate
    return work.fate === 'succeeded' ? 'failed' : 'succeeded'
  }

  /** Possible only while it is queued. */
  cancel(id: string): 'cancelled' | 'too late' | 'missing' {
    const work = this.works.get(id)
    const nowMs = this.#context.world.wallMs(undefined)
    if (work === undefined) return 'missing'
    if (work.cancelledMs !== undefined) return 'cancelled'
    if (nowMs >= work.startsMs) return 'too late'
    work.cancelledMs = nowMs
    this.#context.world.note(`upstream cancels ${id}`)
    return 'cancelled'
  }

  list(model: string): Work[] {
    return [...this.works.values()].filter((work) => work.model === model).reverse()
  }
}
