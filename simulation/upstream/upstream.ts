// The upstream of a world and its log of the truth: every piece of work it was given, what was to become
// of it, and what it has said of it. Knows no wire; how work is spoken of is in wire-*.ts.
import type { Stage } from '../world/context.ts'

export type WorkKind = 'video' | 'image' | 'text'
export type WorkEnd = 'succeeded' | 'failed' | 'cancelled'
export type Saying = 'queued' | 'running' | 'strange' | 'missing' | 'empty' | WorkEnd

/** One piece of work, as it truly is. */
export interface Work {
  readonly id: string
  readonly kind: WorkKind
  readonly protocol: string
  readonly model: string
  readonly prompt: string
  /** The gateway's own name for it, where it sends one. */
  readonly marker: string | undefined
  readonly createdMs: number
  /** Made besides, for the same create. */
  readonly isExtra: boolean
  readonly startsMs: number
  readonly endsMs: number
  readonly fate: WorkEnd | 'empty' | 'vanishes' | 'stuck'
  readonly contradicts: boolean
  /** What it comes to: seconds, tokens or pictures; undefined where it is not told. */
  readonly quantity: number | undefined
  readonly asked: number
  /** What a text has read, in tokens. */
  readonly inputTokens: number
  readonly lines?: number
  cancelledMs: number | undefined
  /** The ends it has told of, in order. */
  readonly told: WorkEnd[]
}

export interface Input {
  kind: WorkKind
  protocol: string
  model: string
  prompt: string
  marker?: string | undefined
  /** Seconds, tokens or pictures asked for. */
  asked: number
  lines?: number
}

/** Longer than any gateway of a world waits. */
const lateMs = 90_000

export class Upstream {
  readonly works = new Map<string, Work>()
  /** How often each prompt has arrived, and each marker. */
  readonly arrivals = new Map<string, number>()
  readonly #stage: Stage
  #ids = 0
  #burstUntilMs = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** A time in which it turns everybody away. */
  burst(forMs: number): void {
    this.#burstUntilMs = this.#stage.world.nowMs + forMs
  }

  get isBusy(): boolean {
    return this.#stage.world.nowMs < this.#burstUntilMs
  }

  /** It has arrived, and is done: one piece of work, now and then two. */
  make(input: Input): Work[] {
    const { random, faults, world } = this.#stage
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
    const { random, faults, world } = this.#stage
    const { upstream } = random
    const createdMs = world.wallMs(undefined)
    const startsMs = createdMs + upstream.between(100, this.#stage.manners.queueMs)
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
      told: [],
    }
    this.works.set(work.id, work)
    return work
  }

  #fate(): Work['fate'] {
    const { random, faults } = this.#stage
    const { fails, dropsIt, empty, vanishes, stuck } = faults.upstream
    if (random.upstream.chance(fails)) return 'failed'
    if (random.upstream.chance(dropsIt)) return 'cancelled'
    if (random.upstream.chance(empty)) return 'empty'
    if (random.upstream.chance(vanishes)) return 'vanishes'
    return random.upstream.chance(stuck) ? 'stuck' : 'succeeded'
  }

  #quantity({ kind, asked }: Input): number | undefined {
    const { random, faults } = this.#stage
    if (kind === 'image') {
      return random.upstream.chance(faults.upstream.partial)
        ? random.upstream.whole(1, asked)
        : asked
    }
    if (random.upstream.chance(faults.upstream.noUsage)) return undefined
    // Now and then it says that it did more than it was asked for.
    return Math.max(1, Math.round(asked * random.upstream.pick([1, 1, 1, 0.5, 0.8, 1.3])))
  }

  #inputTokens(): number {
    const { random, faults, manners } = this.#stage
    if (random.reports.chance(manners.overstated)) return random.reports.whole(50_000, 200_000)
    const isMore = random.upstream.chance(faults.later.undercounted)
    return isMore ? random.upstream.whole(200, 40_000) : 100
  }

  /** What is said of it now, true or not; ends are written down as told. */
  say(id: string): Saying {
    const work = this.works.get(id)
    if (work === undefined) return 'missing'
    const said = this.#saying(work)
    if (said === 'succeeded' || said === 'failed' || said === 'cancelled') work.told.push(said)
    return said
  }

  #saying(work: Work): Saying {
    const { random, faults, world } = this.#stage
    const nowMs = world.wallMs(undefined)
    if (work.cancelledMs !== undefined) return 'cancelled'
    if (nowMs < work.startsMs) return 'queued'
    if (work.fate === 'vanishes') return 'missing'
    if (nowMs < work.endsMs || work.fate === 'stuck') {
      const isOff = random.upstream.chance(faults.upstream.regresses)
      return isOff ? random.upstream.pick(['queued', 'strange'] as const) : 'running'
    }
    if (random.upstream.chance(faults.upstream.regresses / 4)) return 'running'
    if (work.fate === 'empty') return 'empty'
    const isOther = work.contradicts && work.told.length > 0
    if (!isOther) return work.fate
    return work.fate === 'succeeded' ? 'failed' : 'succeeded'
  }

  /** Granted only while it waits for its turn. */
  cancel(id: string): 'cancelled' | 'too late' | 'missing' {
    const work = this.works.get(id)
    const nowMs = this.#stage.world.wallMs(undefined)
    if (work === undefined) return 'missing'
    if (work.cancelledMs !== undefined) return 'cancelled'
    if (nowMs >= work.startsMs) return 'too late'
    work.cancelledMs = nowMs
    this.#stage.world.note(`upstream cancels ${id}`)
    return 'cancelled'
  }

  list(model: string): Work[] {
    return [...this.works.values()].filter((work) => work.model === model).reverse()
  }
}
