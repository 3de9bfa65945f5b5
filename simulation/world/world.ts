// A world with its own time: a discrete-event loop. The seed decides the order of events at the same time. An
// event belongs to one simulated process; when the process dies, its events are dropped. Knows no gateways.
import { drainMicrotasks } from 'bun:jsc'
import { createRandom, type Random } from './random.ts'
import { type Planned, type Proc, Schedule } from './schedule.ts'

/** The wall clock when a world begins, unless it says otherwise: 2027-01-15T08:00:00Z. */
const epochMs = 1_800_000_000_000
const linesKept = 240

/** Checks a world at intervals, and changes nothing. */
interface Watch {
  readonly everyMs: number
  readonly check: () => void
  dueMs: number
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
  readonly #watches: Watch[] = []
  #watchedMs = Number.POSITIVE_INFINITY
  readonly #lines: string[] = []
  readonly #onLine: ((line: string) => void) | undefined
  #digest: number | bigint = 0
  #events = 0
  #nowMs = 0
  /** The true time when it begins. */
  beginsMs = epochMs
  /** The running process; undefined for the world itself. */
  current: Proc | undefined

  constructor(seed: number, onLine?: (line: string) => void) {
    this.seed = seed
    this.chance = createRandom(seed, 'world')
    this.idChance = createRandom(seed, 'ids')
    this.#ties = createRandom(seed, 'ties')
    this.#onLine = onLine
  }

  /** Since the world began; never goes back. */
  get nowMs(): number {
    return this.#nowMs
  }

  get events(): number {
    return this.#events
  }

  /** The wall clock of a process. */
  wallMs(proc: Proc | undefined = this.current): number {
    return Math.floor(this.beginsMs + this.#nowMs + (proc?.skewMs ?? 0))
  }

  newProc(name: string): Proc {
    return { name, alive: true, skewMs: 0, onDeath: new Set() }
  }

  /** Runs it then as that process, if that is still alive. */
  after(ms: number, proc: Proc | undefined, work: () => void): Planned {
    const atMs = this.#nowMs + Math.max(0, ms)
    const planned: Planned = { atMs, tie: this.#ties.next(), proc, work }
    this.#schedule.add(planned)
    return planned
  }

  /** Checks now and at these intervals. Between two events a world does not change: one check is enough. */
  watch(everyMs: number, check: () => void): void {
    check()
    this.#watches.push({ everyMs, check, dueMs: this.#nextCheck(this.#nowMs, everyMs) })
    this.#watchedMs = Math.min(...this.#watches.map(({ dueMs }) => dueMs))
  }

  /** A tie is drawn for each, as for an event: so seeds keep their worlds. */
  #nextCheck(atMs: number, everyMs: number): number {
    this.#ties.next()
    return atMs + everyMs
  }

  #checkUntil(untilMs: number): void {
    if (untilMs < this.#watchedMs) return
    this.#watchedMs = Number.POSITIVE_INFINITY
    for (const watch of this.#watches) {
      if (watch.dueMs <= untilMs) this.#check(watch, untilMs)
      this.#watchedMs = Math.min(this.#watchedMs, watch.dueMs)
    }
  }

  #check(watch: Watch, untilMs: number): void {
    while (watch.dueMs <= untilMs) {
      this.#nowMs = Math.max(this.#nowMs, watch.dueMs)
      watch.dueMs = this.#nextCheck(watch.dueMs, watch.everyMs)
    }
    try {
      watch.check()
    } catch (error) {
      this.addViolation(`an uncaught error: ${(error as Error).stack ?? error}`)
    }
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

  /** Runs until that time or until `isDone`; false when no event is left. */
  run(untilMs: number, isDone: () => boolean = () => false): boolean {
    while (this.violations.length === 0 && !isDone()) {
      const next = this.#schedule.take(untilMs)
      this.#checkUntil(next?.atMs ?? untilMs)
      if (next === undefined || this.violations.length > 0) break
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
      this.addViolation(`an uncaught error: ${(error as Error).stack ?? error}`)
    } finally {
      this.current = undefined
    }
  }

  /** Records a broken invariant. */
  addViolation(what: string): void {
    this.note(`VIOLATION ${what}`)
    this.violations.push(what)
  }

  /** A line of the trace. The digest is over all lines. */
  note(what: string, proc: Proc | undefined = this.current): void {
    const line = `${this.#nowMs.toFixed(3).padStart(11)} ${(proc?.name ?? 'world').padEnd(8)} ${what}`
    this.#digest = Bun.hash(line, this.#digest)
    this.#lines.push(line)
    if (this.#lines.length > 2 * linesKept) this.#lines.splice(0, linesKept)
    this.#onLine?.(line)
  }

  get digest(): string {
    return this.#digest.toString(16).padStart(16, '0')
  }

  lastLines(count = linesKept): string[] {
    return this.#lines.slice(-count)
  }
}
