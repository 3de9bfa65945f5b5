// The lines of one batch that upstreams run in batches of their own. They are cut into parts, each a batch of one
// upstream, of as many lines as the account covers.
import { coveredCount, sumNanos } from '../../../billing/balances.ts'
import type { Refusal } from '../../../contract/errors.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { nextTurn } from '../../../lib/turns.ts'
import { type NativePart, type PartState, partsOf } from '../../../store/batches/native-parts.ts'
import { keyFingerprint } from '../../tasks/task-upstream.ts'
import { holdPart, spendableNanos } from './hold-part.ts'
import type { NativeDeps, NativeHost, NumberedLine } from './native-host.ts'
import type { PreparedLine } from './native-line.ts'
import { PartRun, type Step } from './part-run.ts'

/** Of one part: it is in memory while it is sent and adopted. */
const maxPartBytes = 8 * 1024 * 1024
const maxPartLines = 5_000
const firstPollMs = 500
const maxPollMs = 60_000
/** A cancel is noticed within it. */
const stepMs = 1_000
/** That upstreams take to cancel a batch. */
const maxEndingMs = 20 * 60_000

const openStates: ReadonlySet<PartState> = new Set(['held', 'uploaded', 'created', 'adopting'])

interface HeldLine extends NumberedLine {
  body: string
  holdNanos: bigint
}

/** Lines that one upstream batch can take. */
interface Group {
  prepared: PreparedLine
  lines: HeldLine[]
  bytes: number
}

export class NativeBatch {
  readonly #deps: NativeDeps
  readonly #host: NativeHost
  readonly #open = new Set<PartRun>()
  readonly #groups = new Map<string, Group>()
  readonly #taken = new Set<number>()
  /** The gateway makes their calls itself. */
  readonly #own = new Set<number>()
  #isReturned = false
  #endingSinceMs: number | undefined

  constructor(deps: NativeDeps, host: NativeHost) {
    this.#deps = deps
    this.#host = host
  }

  /** What an owner before has begun. */
  async load(): Promise<void> {
    const nowMs = this.#deps.clock.nowMs()
    for (const part of await partsOf(this.#deps.store.read, this.#host.claim.batchId)) {
      if (part.state === 'refused') for (const number of part.lines) this.#own.add(number)
      if (!openStates.has(part.state)) continue
      this.#open.add(new PartRun(this.#deps, this.#host, part, nowMs))
      for (const number of part.lines) this.#taken.add(number)
    }
  }

  /** An upstream runs it, or will. */
  isTaken(number: number): boolean {
    return this.#taken.has(number)
  }

  /** Whether an upstream takes it. */
  async offer(line: NumberedLine): Promise<boolean> {
    const { channels } = this.#deps.catalog
    const isNative = channels.some(({ batches, disabled }) => batches === 'native' && !disabled)
    if (!isNative || this.#own.has(line.number)) return false
    await nextTurn()
    const prepared = await this.#host.prepare(line.request)
    if (prepared === undefined) return false
    const { channel, protocol, upstreamModel } = prepared.route
    const key = JSON.stringify([channel.id, protocol, upstreamModel])
    const group = this.#groups.get(key) ?? { prepared, lines: [], bytes: 0 }
    this.#groups.set(key, group)
    const { body, holdNanos } = prepared
    group.lines.push({ ...line, body, holdNanos })
    group.bytes += Buffer.byteLength(body) + line.request.text.length
    this.#taken.add(line.number)
    if (group.bytes >= maxPartBytes || group.lines.length >= maxPartLines) await this.#cut(key)
    return true
  }

  /** No other line comes. */
  async flush(): Promise<void> {
    for (const key of [...this.#groups.keys()]) await this.#cut(key)
  }

  async #cut(key: string): Promise<void> {
    const { prepared, lines } = this.#groups.get(key)!
    this.#groups.delete(key)
    let rest = lines
    while (rest.length > 0 && !this.#host.isStopped() && !this.#host.isEnding()) {
      rest = await this.#holdSome(prepared, rest)
    }
    for (const { number } of rest) this.#taken.delete(number)
  }

  /** As many as the account covers become a part; returns those that are left. */
  async #holdSome(prepared: PreparedLine, lines: HeldLine[]): Promise<HeldLine[]> {
    const token = this.#host.payer()
    if (token === undefined) {
      this.#makeOwn(lines.map(({ number }) => number))
      return []
    }
    const { tags } = prepared
    let count = await this.#coveredCount(lines)
    for (;;) {
      const some = lines.slice(0, count)
      const part = this.#newPart(prepared, some)
      const held = await holdPart(this.#deps, this.#host.claim, part, { token, tags })
      if (held === 'lost') {
        this.#host.lost()
        return lines
      }
      if (held === 'done') {
        crashPoint('native-held')
        const run = new PartRun(this.#deps, this.#host, part)
        this.#open.add(run)
        this.#follow(run, await run.begin(some))
        return lines.slice(count)
      }
      if (count === 1) return this.#refuse(lines, some[0]!.holdNanos, held)
      count = Math.floor(count / 2)
    }
  }

  /** At least one. */
  async #coveredCount(lines: readonly HeldLine[]): Promise<number> {
    const spendable = await spendableNanos(this.#deps, this.#host.accountId)
    return Math.max(1, coveredCount(holdsOf(lines), spendable))
  }

  /** All that need as much; returns the others. */
  async #refuse(lines: HeldLine[], fromNanos: bigint, refusal: Refusal): Promise<HeldLine[]> {
    for (const line of lines) {
      if (line.holdNanos >= fromNanos) await this.#host.refuse(line, refusal)
    }
    return lines.filter(({ holdNanos }) => holdNanos < fromNanos)
  }

  #newPart({ route, key }: PreparedLine, lines: readonly HeldLine[]): NativePart {
    const nowMs = this.#deps.clock.nowMs()
    return {
      id: newId('bpart', nowMs),
      batchId: this.#host.claim.batchId,
      accountId: this.#host.accountId,
      state: 'held',
      channelId: route.channel.id,
      protocol: route.protocol,
      upstreamModel: route.upstreamModel,
      keyFingerprint: keyFingerprint(this.#deps, key),
      holdNanos: sumNanos(holdsOf(lines)),
      lines: lines.map(({ number }) => number),
      createdAtMs: nowMs,
    }
  }

  /** Until no part is open, or the gateway stops. True: lines have come back. */
  async work(): Promise<boolean> {
    let waitMs = firstPollMs
    while (this.#open.size > 0 && !this.#host.isStopped()) {
      let isMoved = false
      for (const run of this.#open) {
        const step = await run.step(this.#isLate())
        this.#follow(run, step)
        isMoved ||= step !== 'same'
        if (this.#host.isStopped()) break
      }
      if (this.#open.size === 0) break
      waitMs = isMoved ? firstPollMs : Math.min(maxPollMs, waitMs * 1.5)
      await this.#wait(waitMs)
    }
    const isReturned = this.#isReturned
    this.#isReturned = false
    return isReturned
  }

  #follow(run: PartRun, step: Step): void {
    if (step === 'ended' || step === 'back') this.#open.delete(run)
    if (step === 'back') this.#makeOwn(run.lines)
  }

  #makeOwn(lines: readonly number[]): void {
    for (const number of lines) {
      this.#taken.delete(number)
      this.#own.add(number)
    }
    this.#isReturned = true
  }

  #isLate(): boolean {
    if (!this.#host.isEnding()) return false
    const nowMs = this.#deps.clock.nowMs()
    this.#endingSinceMs ??= nowMs
    return nowMs - this.#endingSinceMs > maxEndingMs
  }

  /** A cancel ends it. */
  async #wait(ms: number): Promise<void> {
    const wasEnding = this.#host.isEnding()
    for (let left = ms; left > 0; left -= stepMs) {
      if (this.#host.isStopped() || this.#host.isEnding() !== wasEnding) return
      await this.#host.sleep(Math.min(left, stepMs))
    }
  }
}

const holdsOf = (lines: readonly HeldLine[]) => lines.map(({ holdNanos }) => holdNanos)
