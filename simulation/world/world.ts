// A world with its own time: things happen one after the other, each at its moment, in an order that
// the seed decides among equals. What happens belongs to one simulated process; when that one dies,
// what it had planned does not happen. Knows nothing of gateways.
import { drainMicrotasks } from 'bun:jsc'
import { createRandom, type Random } from './random.ts'
import { type Planned, Schedule } from './schedule.ts'

/** The wall clock when a world begins, unless it says otherwise: 2027-01-15T08:00:00Z. */
const epochMs = 1_800_000_000_000
const linesKept = 240

/** One simulated process. A restart makes a new one. */
export interface Proc {
  readonly name: string
  alive: boolean
  /** By how much its wall clock is off. */
  skewMs: number
  /** What others want to hear of its end. */
  readonly onDeath: Set<() => void>
}

/** What must never be. Ends the run of a seed. */
export class Violation extends Error {
  override name = 'Violation'
}

export class World {
  readonly seed: number
  readonly chance: Random
  readonly idChance: Random
  readonly violations: string[] = []
  /** Why processes have died. */
  readonly deaths: string[] = []
  readonly #schedule = new Schedule()
  readonly #ties: Random
  readonly #lines: string[] = []
  readonly #say: ((line: string) => void) | undefined
  #digest: number | bigint = 0
  #events = 0
  #nowMs = 0
  /** The true time when it begins. */
  beginsMs = epochMs
  /** Whose turn it is; undefined: the world's own. */
  current: Proc | undefined

  constructor(seed: number, say?: (line: string) => void) {
    this.seed = seed
    this.chance = createRandom(seed, 'world')
    this.idChance = createRandom(seed, 'ids')
    this.#ties = createRandom(seed, 'ties')
    this.#say = say
  }

  /** Since the world began; never goes back. */
  get nowMs(): number {
    return this.#nowMs
  }

  get events(): number {
    return this.#events
  }

  /** What a process sees when it looks at the clock on the wall. */
  wallMs(proc: Proc | undefined = this.current): number {
    return Math.floor(this.beginsMs + this.#nowMs + (proc?.skewMs ?? 0))
  }

  newProc(name: string): Proc {
    return { name, alive: true, skewMs: 0, onDeath: new Set() }
  }

  /** Does it then, as that process, if that one is still alive. */
  after(ms: number, proc: Proc | undefined, work: () => void): Planned {
    const atMs = this.#nowMs + Math.max(0, ms)
    const planned: Planned = { atMs, tie: this.#ties.next(), proc, work }
    this.#schedule.add(planned)
    return planned
  }

  cancel(planned: Planned): void {
    planned.work = undefined
  }

  /** Resolves as that process. */
  pause(ms: number, proc: Proc | undefined): Promise<void> {
    return new Promise((go) => this.after(ms, proc, go))
  }

  kill(proc: Proc, why: string): void {
    if (!proc.alive) return
    this.note(`dies: ${why}`, proc)
    proc.alive = false
    this.deaths.push(why)
    for (const reply of proc.onDeath) reply()
    proc.onDeath.clear()
  }

  /** Goes on until that moment, or until `isDone` says so; false when nothing is left to happen. */
  run(untilMs: number, isDone: () => boolean = () => false): boolean {
    while (this.violations.length === 0 && !isDone()) {
      const next = this.#schedule.take(untilMs)
      if (next === undefined) break
      this.#nowMs = next.atMs
      this.#step(next)
    }
    if (this.#nowMs < untilMs && this.#schedule.isEmpty) return false
    return true
  }

  #step({ proc, work }: Planned): void {
    if (work === undefined || proc?.alive === false) return
    this.#events++
    this.current = proc
    try {
      work()
      drainMicrotasks()
    } catch (error) {
      this.blame(`an error nobody caught: ${(error as Error).stack ?? error}`)
    } finally {
      this.current = undefined
    }
  }

  /** Something that must never be has been. */
  blame(what: string): void {
    this.note(`VIOLATION ${what}`)
    this.violations.push(what)
  }

  /** A line of the trace. All lines together are the digest. */
  note(what: string, proc: Proc | undefined = this.current): void {
    const line = `${this.#nowMs.toFixed(3).padStart(11)} ${(proc?.name ?? 'world').padEnd(8)} ${what}`
    this.#digest = Bun.hash(line, this.#digest)
    this.#lines.push(line)
    if (this.#lines.length > 2 * linesKept) this.#lines.splice(0, linesKept)
    this.#say?.(line)
  }

  get digest(): string {
    return this.#digest.toString(16).padStart(16, '0')
  }

  lastLines(count = linesKept): string[] {
    return this.#lines.slice(-count)
  }
}
