// Background responses that no upstream makes: the gateway makes the call and keeps the answer. A call belongs
// to the gateway that has claimed it. `queued` says that nothing was sent, `running` that it may have been, so
// that after a crash the first is made by another gateway and the second ends, free of charge.
import type { CallingTask } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { MadeAnswer, UpstreamError } from '../../contract/provider.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { isEnd, type ResponseTask, type Task } from '../../contract/task.ts'
import { withStep } from '../../contract/timeline.ts'
import { sureNowMs } from '../../lib/clock.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { isObject } from '../../lib/json/parse.ts'
import { gatewayOf } from '../../store/index.ts'
import { findTaskRow, lockTaskRow, updateTask } from '../../store/tasks/tasks.ts'
import { tokenById } from '../admission/authenticate.ts'
import { addTaskLoss, lossOfTask } from '../books/losses.ts'
import { completeUsage } from '../calls/charged-usage.ts'
import type { Engine } from '../engine.ts'
import { endTask, withheld } from './end-task.ts'
import { afterFailureMs } from './poll/poll-schedule.ts'
import { taskTimeoutsOf } from './poll/task-timeouts.ts'
import { retryWrite } from './retry-write.ts'
import { readText } from './task-texts.ts'

/** Made at once by one gateway; the others stay queued. */
const maxRunning = 256
/** The poller asks that often whether the gateway that makes it lives. */
const underWayMs = 5_000
/** Another gateway may have cancelled it. */
const watchMs = 2_000
/** Tries of a call that upstreams are too busy for. */
const maxTries = 4

/** Such a refusal may be another one in a moment; nothing was made. */
const busy: ReadonlySet<string> = new Set([
  'overloaded',
  'no_available_channel',
  'rate_limit_exceeded',
  'upstream_rate_limited',
])

type Failure = Pick<UpstreamError, 'code' | 'message'>

export class OwnResponses {
  readonly #engine: Engine
  readonly #running = new Map<string, AbortController>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  stop(taskId: string): void {
    this.#running.get(taskId)?.abort()
  }

  /** True when it is claimed, by this gateway or another. The call itself goes on. */
  async run(task: ResponseTask, fence: number): Promise<boolean> {
    const { store, creating, load, clock } = this.#engine
    if (load.draining || this.#running.size >= maxRunning || this.#running.has(task.id))
      return false
    const nowMs = clock.nowMs()
    const claimed: ResponseTask = {
      ...task,
      awaitedBy: gatewayOf(store),
      updatedAtMs: nowMs,
      nextCheckAtMs: nowMs + underWayMs,
    }
    const stop = new AbortController()
    this.#running.set(task.id, stop)
    creating.add(task.id)
    let isMine = false
    try {
      isMine = await store.tx((tx) => updateTask(tx, claimed, 'queued', fence))
    } finally {
      if (!isMine) this.#forget(task)
    }
    if (isMine) void this.#make(claimed, stop)
    return true
  }

  #forget({ id }: Task): void {
    this.#running.delete(id)
    this.#engine.creating.delete(id)
  }

  async #make(task: ResponseTask, stop: AbortController): Promise<void> {
    const { log, store } = this.#engine
    crashPoint('response-claimed')
    const watch = setInterval(() => {
      findTaskRow(store.read, task.id).then(
        (row) => row !== undefined && isEnd(row.state) && stop.abort(),
        () => undefined,
      )
    }, watchMs)
    const call = new ResponseCall(this.#engine, task, stop.signal)
    try {
      await call.make()
    } catch (error) {
      log.error('unexpected error', { task_id: task.id, error })
    } finally {
      clearInterval(watch)
      this.#forget(task)
    }
  }
}

/** One call in the name of a task. */
class ResponseCall implements CallingTask {
  readonly heldNanos: bigint
  readonly #engine: Engine
  readonly #task: ResponseTask
  readonly #signal: AbortSignal
  #isBegun = false

  constructor(engine: Engine, task: ResponseTask, signal: AbortSignal) {
    this.#engine = engine
    this.#task = task
    this.#signal = signal
    this.heldNanos = task.holdNanos
  }

  async make(): Promise<void> {
    const engine = this.#engine
    const token = tokenById(engine, this.#task.tokenId)
    if (token instanceof Refusal) return this.#fail(token)
    const text = await readText(engine, this.#task, 'request')
    if (text === undefined) return this.#fail(notKept)
    const { body, headers } = JSON.parse(text) as {
      body: string
      headers: Record<string, string>
    }
    const call = { token, path: '/v1/responses', body, headers, signal: this.#signal, task: this }
    for (let tries = 1; ; tries++) {
      const answer = await engine.runOwnCall(call)
      if (answer.status === 200 || this.#signal.aborted) return
      const failure = await failureIn(answer)
      if (!busy.has(failure.code)) return this.#fail(failure)
      if (!this.#isBegun) return this.#putOff(failure)
      if (tries >= maxTries || engine.load.draining) return this.#fail(failure)
      await Bun.sleep(afterFailureMs(tries - 1, engine.random))
    }
  }

  /** From here on it may have been sent. */
  async begin(channel: { id: string; name: string }): Promise<boolean> {
    if (this.#signal.aborted) return false
    const { store, clock } = this.#engine
    const owner = gatewayOf(store)
    const isBegun = await retryWrite(this.#engine, () =>
      store.tx(async (tx) => {
        const row = await lockTaskRow(tx, store.dialect, this.#task.id)
        if (row?.kind !== 'response' || row.awaitedBy !== owner || isEnd(row.state)) return false
        const nowMs = clock.nowMs()
        const sent = { kind: 'sent', atMs: nowMs, state: 'running', progress: 0 } as const
        const running: ResponseTask = {
          ...row,
          state: 'running',
          startedAtMs: row.startedAtMs ?? nowMs,
          channelId: channel.id,
          channel: channel.name,
          updatedAtMs: nowMs,
          timeline: row.state === 'queued' ? withStep(row, sent) : row.timeline!,
        }
        return updateTask(tx, running, row.state)
      }),
    )
    this.#isBegun ||= isBegun
    if (isBegun) crashPoint('response-begun')
    return isBegun
  }

  async settle(answer: MadeAnswer, record: RequestRecord): Promise<Refusal | undefined> {
    crashPoint('response-answered')
    const engine = this.#engine
    const task = sentOf(servedAs(engine, this.#task, record), record)
    const end = { state: 'succeeded', media: [], usage: {}, raw: answer.reported.raw } as const
    const ended = await retryWrite(engine, () => endTask(engine, task, { ...end, answer }))
    if (ended?.state === 'succeeded') return undefined
    // The account could not pay; what it has cost is a loss already.
    if (ended !== undefined) return withheld.error
    const tokens = completeUsage(
      answer.reported.usage,
      task.request.inputTokens,
      () => answer.outputTokens,
    )
    await addTaskLoss(engine, lossOfTask(engine, task, 'not_delivered', { usage: { tokens } }))
    return tooLate
  }

  /** Nothing was sent: it stays queued for a while. */
  async #putOff(failure: Failure): Promise<void> {
    const engine = this.#engine
    const { awaitedBy: _, ...task } = this.#task
    const nowMs = engine.clock.nowMs()
    const ageMs = sureNowMs(engine.clock) - task.createdAtMs
    if (ageMs > taskTimeoutsOf(engine).unknownMs) return this.#fail(failure)
    const checks = task.checks + 1
    const nextCheckAtMs = Math.round(nowMs + afterFailureMs(task.checks, engine.random))
    const later: ResponseTask = { ...task, checks, updatedAtMs: nowMs, nextCheckAtMs }
    await retryWrite(engine, () => engine.store.tx((tx) => updateTask(tx, later, 'queued')))
    engine.jobs.poller.wake(nextCheckAtMs)
  }

  async #fail({ code, message }: Failure): Promise<void> {
    const error = { code, message }
    await retryWrite(this.#engine, () =>
      endTask(this.#engine, this.#task, { state: 'failed', error }),
    )
  }
}

/** With those of the asked terms that went upstream. */
function sentOf(task: ResponseTask, { detail: { translationLosses: lost } }: RequestRecord) {
  const { asks, ...request } = task.request
  const sent = asks?.filter(({ param }) => !lost?.includes(param))
  return { ...task, request: { ...request, ...(sent !== undefined && { asks: sent }) } }
}

/** By which channel, model and price. Those of a plain model are frozen. */
function servedAs({ catalog }: Engine, task: ResponseTask, record: RequestRecord): ResponseTask {
  const { priceId = task.priceId, channel = task.channel, detail } = record
  const { servedModel, upstreamModel = servedModel ?? task.model } = detail
  const { id: channelId = task.channelId } =
    catalog.channels.find(({ name }) => name === channel) ?? {}
  const served = { ...task, channel, channelId, upstreamModel }
  return servedModel === undefined ? served : { ...served, servedModel, priceId }
}

/** As the caller of an interface would read it, without the id of a request that no caller has made. */
async function failureIn(answer: Response): Promise<Failure> {
  const body: unknown = await answer.json().catch(() => undefined)
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const { code, message } = error
  return {
    code: (typeof code === 'string' ? code : 'internal_error') as Failure['code'],
    message: String(message ?? 'the call failed').replace(/ \(req_\w+\)$/, ''),
  }
}

const notKept: Failure = { code: 'internal_error', message: 'its request is no longer stored' }
const tooLate = refuse('conflict', 'its task ended before the answer came')
