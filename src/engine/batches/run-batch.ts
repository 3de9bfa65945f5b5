// One batch from its claim to its end: the input is checked, its lines run, its files are written. Whatever is
// done is in the store, so that the next owner goes on from there.
import { addCharge } from '../../billing/charge.ts'
import type { Batch, BatchState } from '../../contract/batches/index.ts'
import { Refusal } from '../../contract/errors.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { byteLines } from '../../lib/text/byte-lines.ts'
import { nextTurn } from '../../lib/turns.ts'
import {
  type Claim,
  lockBatch,
  releaseClaim,
  saveProgress,
  updateBatch,
} from '../../store/batches/batches.ts'
import { findFile } from '../../store/batches/files.ts'
import { sumCharges, takeDone } from '../../store/batches/lines.ts'
import { tokenById } from '../admission/authenticate.ts'
import type { CallDeps } from '../calls/open-call.ts'
import type { EngineLimits } from '../engine.ts'
import type { Callers } from './callers.ts'
import { countEnded, type EndDeps, endBatch, notifyEnded } from './end-batch.ts'
import { fenceKept } from './fence-kept.ts'
import { openContent } from './files.ts'
import type { LineSlots } from './line-slots.ts'
import type { LineWriter } from './line-writer.ts'
import { NativeBatch } from './native/native-batch.ts'
import type { NativeDeps, NativeHost, NumberedLine, Ran } from './native/native-host.ts'
import { adoptResult } from './native/native-line.ts'
import {
  checkLines,
  isLineRequest,
  type LineRequest,
  longLineBytes,
  readLine,
} from './read-lines.ts'
import {
  adoptLine,
  type FinalOutcome,
  type LineDeps,
  offerLine,
  refused,
  runLine,
  unrunLine,
} from './run-line.ts'

export type BatchDeps = LineDeps &
  EndDeps &
  NativeDeps &
  CallDeps & { readonly limits: Pick<EngineLimits, 'jsonDepth'> }

interface BatchTools {
  slots: LineSlots
  callers: Pick<Callers, 'giveWay'>
  writer: LineWriter
  /** The gateway stops. */
  isStopping(): boolean
  /** Ends early when the gateway stops. */
  sleep(ms: number): Promise<void>
}

const progressMs = 1_000
/** Of the input: to read so many lines takes about a millisecond. */
const bytesPerTurn = 32 * 1024
/** Rows in one transaction. */
const resumedAtOnce = 2_000
const filledAtOnce = 100

export class BatchRun {
  readonly #deps: BatchDeps
  readonly #tools: BatchTools
  readonly #claim: Claim
  #batch: Batch
  /** Lines that have an outcome. */
  readonly #done = new Set<number>()
  readonly #running = new Set<Promise<void>>()
  #isLost = false
  #problem: unknown
  readonly #native: NativeBatch
  /** All that is left is up to upstreams. */
  isWaiting = false

  constructor(deps: BatchDeps, tools: BatchTools, batch: Batch, claim: Claim) {
    this.#deps = deps
    this.#tools = tools
    this.#batch = batch
    this.#claim = claim
    this.#native = new NativeBatch(deps, this.#nativeHost())
  }

  /** Resolves when it has ended, is another gateway's, or the gateway stops. */
  async run(): Promise<void> {
    try {
      await this.#resume()
      if (this.#batch.state === 'validating') await this.#validate()
      if (this.#batch.state === 'in_progress') await this.#runLines()
      if (this.#mayGoOn && this.#batch.state === 'cancelling') await this.#native.work()
      if (this.#mayGoOn && isEnding(this.#batch.state)) {
        await this.#fillIn()
        if (this.#mayGoOn) await endBatch(this.#deps, this.#claim, this.#batch)
      }
    } finally {
      await this.#deps.store.tx((tx) => releaseClaim(tx, this.#claim))
    }
  }

  get #mayGoOn(): boolean {
    const isStopping = this.#tools.isStopping() || this.#deps.load.draining
    return !this.#isLost && !isStopping && this.#problem === undefined
  }

  /** What an owner before may have left: an answer whose charge was not written is none. */
  async #resume(): Promise<void> {
    const { store } = this.#deps
    const { id } = this.#batch
    await fenceKept(store, this.#batch)
    let failed = 0
    for (let after = 0; ; await this.#tools.callers.giveWay()) {
      const page = await store.tx((tx) => takeDone(tx, id, after, resumedAtOnce))
      if (page === undefined) break
      for (const { line } of page.done) this.#done.add(line)
      failed += page.done.filter((each) => each.failed === 1).length
      after = page.last
    }
    const completed = this.#done.size - failed
    const chargeNanos = await sumCharges(store.read, id)
    this.#batch = { ...this.#batch, failed, completed, chargeNanos }
    await this.#native.load()
  }

  get #terms() {
    const { endpoint, accountId } = this.#batch
    return { endpoint, accountId, jsonDepth: this.#deps.limits.jsonDepth }
  }

  async *#lines() {
    const { inputFileId, accountId } = this.#batch
    // It is kept as long as its batch is live, whenever it would have expired.
    const file = await findFile(this.#deps.store.read, accountId, inputFileId, 0)
    const content = file && (await openContent(this.#deps, file))
    // Such as a directory of another gateway: that one has to go on.
    if (content === undefined) throw new Error('the input of the batch cannot be reached')
    const { bodyBytes } = this.#deps.limits
    let bytes = 0
    for await (const line of byteLines(content, bodyBytes, longLineBytes)) {
      bytes += line.bytes?.length ?? line.text.length
      if (bytes >= bytesPerTurn) {
        await nextTurn()
        bytes = 0
      }
      yield line
    }
  }

  async #validate(): Promise<void> {
    const { total, errors } = await checkLines(this.#lines(), this.#terms)
    const nowMs = this.#deps.clock.nowMs()
    await this.#move(
      errors.length > 0
        ? { state: 'failed', failedAtMs: nowMs, errors, total: 0 }
        : { state: 'in_progress', in_progressAtMs: nowMs, total },
      ['validating'],
    )
    if (this.#batch.state === 'failed' && !this.#isLost) countEnded(this.#deps, this.#batch)
  }

  /** Changes the stored batch, if it is still in one of these states; else takes over what is stored. */
  async #move(change: Partial<Batch>, from: readonly BatchState[]): Promise<void> {
    const { store } = this.#deps
    const stored = await store.tx(async (tx) => {
      const now = await lockBatch(tx, store.dialect, this.#claim)
      if (now === undefined || !from.includes(now.state)) return now
      const { completed, failed, chargeNanos } = this.#batch
      const moved = { ...now, completed, failed, chargeNanos, ...change }
      await updateBatch(tx, moved)
      if (moved.state === 'failed') await notifyEnded(tx, moved, this.#deps.clock.nowMs())
      return moved
    })
    if (stored === undefined) this.#isLost = true
    else this.#batch = stored
  }

  async #runLines(): Promise<void> {
    const timer = setInterval(() => void this.#saveProgress(), progressMs)
    try {
      do {
        await this.#beginLines()
        await this.#native.flush()
        await this.#settled()
        this.isWaiting = true
      } while ((await this.#native.work()) && !this.#isOver())
    } catch (error) {
      this.#problem ??= error
    } finally {
      // A later run of the batch must not find them without an outcome.
      await this.#settled()
      this.isWaiting = false
      clearInterval(timer)
    }
    if (this.#problem !== undefined) throw this.#problem
    await this.#saveProgress()
    if (!this.#mayGoOn || this.#batch.state !== 'in_progress') return
    const isComplete = this.#batch.completed + this.#batch.failed >= this.#batch.total
    if (!isComplete && !this.#isExpired) return
    const ending = isComplete ? 'completed' : 'expired'
    const nowMs = this.#deps.clock.nowMs()
    await this.#move({ state: 'finalizing', finalizingAtMs: nowMs, ending }, ['in_progress'])
  }

  async #beginLines(): Promise<void> {
    this.isWaiting = false
    const { accountId } = this.#batch
    for await (const line of this.#lines()) {
      const { number } = line
      if (this.#done.has(number) || this.#native.isTaken(number)) continue
      const request = await readLine(line, this.#terms)
      if (!isLineRequest(request)) continue
      if (this.#isOver()) break
      if (await this.#native.offer({ number, request })) continue
      await this.#tools.slots.take(accountId)
      if (this.#isOver()) {
        this.#tools.slots.leave(accountId)
        break
      }
      this.#begin(this.#runLine(number, request))
    }
  }

  /** It has a slot. */
  #begin(work: Promise<void>): void {
    const running = work
      .catch((error) => {
        this.#problem = error
      })
      .finally(() => {
        this.#tools.slots.leave(this.#batch.accountId)
        this.#running.delete(running)
      })
    this.#running.add(running)
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  get #isExpired(): boolean {
    return this.#deps.clock.nowMs() >= this.#batch.expiresAtMs
  }

  /** No further line may begin. */
  #isOver(): boolean {
    return !this.#mayGoOn || this.#isExpired || this.#batch.state !== 'in_progress'
  }

  async #runLine(number: number, line: LineRequest): Promise<void> {
    await this.#record(number, await this.#outcomeOf(number, line))
  }

  async #record(number: number, outcome: FinalOutcome): Promise<void> {
    if (outcome.kind === 'stopped') return
    if (outcome.kind === 'failed') {
      // It may replace an answer that was kept and could not be charged.
      if (!(await this.#put(number, outcome.text, true, outcome.requestId))) return
      this.#batch.failed++
      this.#deps.meters?.batchLine('failed')
    } else {
      this.#batch.completed++
      this.#batch.chargeNanos = addCharge(this.#batch.chargeNanos, outcome.chargeNanos)
      this.#deps.meters?.batchLine('completed')
      this.#tools.slots.paid(this.#batch.accountId)
    }
    this.#done.add(number)
    crashPoint('batch-line')
  }

  async #outcomeOf(number: number, line: LineRequest): Promise<FinalOutcome> {
    const { accountId, tokenId, endpoint, tags } = this.#batch
    const { slots, sleep } = this.#tools
    for (;;) {
      const outcome = await runLine(this.#deps, {
        ...{ tokenId, endpoint, tags, line, sleep },
        isOnlyLine: slots.isOnlyLine(accountId),
        keep: (requestId, text) => this.#put(number, text, false, requestId),
        isStopped: () => this.#isOver(),
      })
      if (outcome.kind !== 'crowded') return outcome
      // Other lines hold the money that it needs: it waits for them.
      slots.shrink(accountId)
      slots.leave(accountId)
      await slots.take(accountId)
    }
  }

  async #put(line: number, text: string, failed: boolean, requestId?: string): Promise<boolean> {
    const { id: batchId } = this.#batch
    const answer = this.#deps.seal.encrypt(text, `${batchId} ${line}`)
    const row = { batchId, line, requestId, failed, answer }
    const isWritten = await this.#tools.writer.put(this.#claim, row)
    if (!isWritten) this.#isLost = true
    return isWritten
  }

  #nativeHost(): NativeHost {
    const { accountId, tokenId, endpoint, tags } = this.#batch
    const of = { tokenId, endpoint, tags }
    return {
      ...{ accountId, claim: this.#claim, sleep: this.#tools.sleep },
      linesIn: (numbers) => this.#requestsIn(numbers),
      prepare: (line) => offerLine(this.#deps, { ...of, line }),
      payer: () => {
        const token = tokenById(this.#deps, tokenId)
        return token instanceof Refusal ? undefined : token
      },
      adopt: (line, at) => this.#adopt(line, at),
      refuse: ({ number, request }, refusal) => this.#record(number, refused(request, refusal)),
      unrun: ({ number, request }, why) =>
        this.#record(number, { kind: 'failed', text: unrunLine(request, why) }),
      settled: () => this.#settled(),
      isEnding: () => this.#isExpired || isEnding(this.#batch.state),
      isStopped: () => !this.#mayGoOn,
      lost: () => {
        this.#isLost = true
      },
    }
  }

  /** As a call whose reply is there. */
  async #adopt({ number, request: line }: NumberedLine, at: Ran): Promise<void> {
    const { accountId, tokenId, endpoint, tags } = this.#batch
    const { slots, sleep } = this.#tools
    await slots.take(accountId)
    const adopted = adoptLine(this.#deps, {
      ...{ tokenId, endpoint, tags, line, sleep, isOnlyLine: true },
      keep: (requestId, text) => this.#put(number, text, false, requestId),
      isStopped: () => !this.#mayGoOn,
      instead: (context, call) =>
        adoptResult(this.#deps, context, call, { ...at, keep: context.own!.keep! }),
    })
    this.#begin(adopted.then((outcome) => this.#record(number, outcome)))
  }

  /** Those of the lines with these numbers that have no outcome. */
  async *#requestsIn(numbers: ReadonlySet<number>): AsyncGenerator<NumberedLine> {
    for await (const line of this.#lines()) {
      const { number } = line
      if (!numbers.has(number) || this.#done.has(number)) continue
      const request = await readLine(line, this.#terms)
      if (isLineRequest(request)) yield { number, request }
    }
  }

  /** Stores how far it is; learns whether it is to be cancelled, or is another gateway's. */
  async #saveProgress(): Promise<void> {
    const { store, log } = this.#deps
    try {
      const stored = await store.tx(async (tx) => {
        const now = await lockBatch(tx, store.dialect, this.#claim)
        if (now !== undefined) await saveProgress(tx, this.#claim, this.#batch)
        return now
      })
      if (stored === undefined) this.#isLost = true
      else if (stored.state !== this.#batch.state) {
        const { completed, failed, chargeNanos } = this.#batch
        this.#batch = { ...stored, completed, failed, chargeNanos }
      }
    } catch (error) {
      log.warn('batch progress not stored', { error })
    }
  }

  /** Lines that were not run get their line in the error file. */
  async #fillIn(): Promise<void> {
    const { state, ending = 'cancelled', total, completed, failed } = this.#batch
    if (total === completed + failed || ending === 'completed') return
    const why = state === 'cancelling' ? 'cancelled' : ending
    let waiting: Promise<void>[] = []
    for await (const line of this.#lines()) {
      if (this.#done.has(line.number)) continue
      if (!this.#mayGoOn) return
      const read = await readLine(line, this.#terms)
      if (!isLineRequest(read)) continue
      waiting.push(this.#fill(line.number, unrunLine(read, why)))
      if (waiting.length < filledAtOnce) continue
      await Promise.all(waiting)
      waiting = []
      await this.#tools.callers.giveWay()
    }
    await Promise.all(waiting)
  }

  async #fill(number: number, text: string): Promise<void> {
    if (!(await this.#put(number, text, true))) return
    this.#batch.failed++
    this.#deps.meters?.batchLine('unrun')
    this.#done.add(number)
  }
}

const isEnding = (state: BatchState): boolean => state === 'finalizing' || state === 'cancelling'
