// One attempt at one channel: from the slot that it has taken to its outcome, in the request log row, in the
// metrics and in the log. Money is settled separately.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type {
  StreamWatcher,
  TextProvider,
  TextReply,
  UpstreamError,
} from '../../contract/provider.ts'
import type { Affinity, Attempt, MoveReason } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { HttpError } from '../../lib/http/error.ts'
import { nextTurn, ReadTurns } from '../../lib/turns.ts'
import { leavePlace } from '../routing/channel-places.ts'
import type { ChannelState } from '../routing/channel-state.ts'
import { type FailureKind, failureKind } from '../routing/faults.ts'
import { recordFailure } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { lowPriority } from '../routing/waiting-room.ts'
import { addFailedLoss } from './charged-usage.ts'
import { cleaned, isId } from './clean-error.ts'
import type { Deadline } from './deadlines.ts'
import type { CallDeps, OpenCall } from './open-call.ts'

/** Cancelled when its work is no longer wanted. */
export class UpstreamAttempt extends Cancellation implements PickedRoute {
  /** The protocol that is spoken; another one of the channel may follow. */
  route: Route
  readonly key: string
  readonly channelState: ChannelState
  readonly probe: boolean
  readonly affinity: Affinity | undefined
  readonly moved: MoveReason | undefined
  provider: TextProvider
  readonly deadline: Deadline
  readonly startedMs: number
  /** The caller has left, or did not read its stream. */
  isAbandoned = false
  /** Its answer is read on within the limits when the caller leaves, so that it can be charged. */
  readsOn = false
  readonly #engine: Pick<CallDeps, 'load' | 'limits'>
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Of the request that it sends: without sealed reasoning. */
  withoutSeals = false
  /** The protocol of its channel that was picked, while another one may carry more of the request. */
  firstRoute: Route | undefined
  /** No protocol of the channel carries all settings, so that the first that carries the rest may. */
  mayLose = false

  constructor(engine: CallDeps, picked: PickedRoute) {
    super()
    this.route = picked.route
    this.key = picked.key
    this.channelState = picked.channelState
    this.probe = picked.probe === true
    this.affinity = picked.affinity
    this.moved = picked.moved
    this.provider = providerOf(engine, picked.route)
    this.deadline = engine.deadlines.start(picked.route.channel.timeouts, this)
    this.startedMs = engine.clock.nowMs()
    this.#engine = engine
  }

  /** The caller has left. */
  override handleEvent(): void {
    if (!this.readsOn) {
      this.cancel()
      return
    }
    if (this.isAbandoned) return
    this.isAbandoned = true
    const { load, limits } = this.#engine
    const mayReadOn = load.abandoned < limits.abandonedStreams
    load.abandoned++
    this.#timer = setTimeout(() => this.cancel(), mayReadOn ? limits.abandonedMs : 0)
  }

  /** It is over: no more is read. */
  stopReadingOn(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#engine.load.abandoned--
  }
}

function providerOf({ providers }: CallDeps, { protocol, provider: own }: Route): TextProvider {
  const provider = providers.get(own ?? protocol)?.text
  if (provider === undefined) throw new Error(`provider ${protocol} does not speak text`)
  return provider
}

/** It has its slot at the channel already. From here on the row names the channel. */
export function beginAttempt(open: OpenCall, picked: PickedRoute): UpstreamAttempt {
  const { engine, record } = open
  const { channel, upstreamModel } = picked.route
  record.channel = channel.name
  if (upstreamModel !== record.model) record.detail.upstreamModel = upstreamModel
  else if (record.detail.upstreamModel !== undefined) delete record.detail.upstreamModel
  engine.load.running++
  if (open.slotOwner === lowPriority) engine.load.lowPriority++
  const attempt = new UpstreamAttempt(engine, picked)
  const isCharged =
    engine.declared.file.left_calls !== 'release' && open.ctx.own?.task === undefined
  attempt.readsOn = !open.call.stream && isCharged
  return attempt
}

/** After a failure at the first. */
export function beginNext(open: OpenCall, first: Route, next: PickedRoute): UpstreamAttempt {
  const attempt = beginAttempt(open, next)
  const areOwn = !first.translated && !next.route.translated
  attempt.withoutSeals = areOwn && realmOf(first) !== realmOf(next.route)
  return attempt
}

/** At the same place, which the call keeps: without seals, or by another protocol. */
export function beginAgain(
  open: OpenCall,
  attempt: UpstreamAttempt,
  failure: UpstreamError,
  watcher: StreamWatcher | undefined,
): UpstreamAttempt | undefined {
  if (failure.about === 'translation') return byOtherProtocol(open.engine, attempt)
  if (!isSealRefused(open, attempt, failure)) return undefined
  const { engine } = open
  // The refusal says nothing about the channel.
  addFailedLoss(open, attempt, failure, watcher)
  attempt.deadline.end()
  attempt.stopReadingOn()
  attempt.cancel()
  recordFailed(open, attempt, cleaned(engine, failure, open.call, attempt.route))
  const again = new UpstreamAttempt(engine, attempt)
  again.readsOn = attempt.readsOn
  again.firstRoute = attempt.firstRoute
  again.mayLose = attempt.mayLose
  again.withoutSeals = true
  return again
}

/** The same upstream may answer when it gets no seals. Once for each place. */
const isSealRefused = (
  open: OpenCall,
  attempt: UpstreamAttempt,
  { reason }: UpstreamError,
): boolean =>
  reason?.kind === 'invalid_seal' &&
  !attempt.withoutSeals &&
  !isStrict(attempt.route, open.ctx) &&
  !hasLeft(open, attempt) &&
  !open.engine.load.draining

/** Nothing may be left out of a request. */
export const isStrict = ({ channel }: Route, { token }: Pick<CallContext, 'token'>): boolean =>
  channel.translation === 'strict' || token.translation === 'strict'

const realms = new WeakMap<Route, string>()

/** Upstreams of one realm accept each other's seals of reasoning. */
export function realmOf(route: Route): string {
  let realm = realms.get(route)
  if (realm === undefined) {
    realm = `${route.protocol} ${route.channel.realm ?? new URL(route.baseUrl).host}`
    realms.set(route, realm)
  }
  return realm
}

/**
 * A call that cannot be translated into the protocol that was picked, at a channel that has others: first
 * each is asked to carry all settings of the request, then to carry it with losses. Nothing was sent.
 * Undefined when none is left.
 */
function byOtherProtocol(engine: CallDeps, attempt: UpstreamAttempt): UpstreamAttempt | undefined {
  const first = attempt.firstRoute ?? attempt.route
  const nowMs = engine.clock.nowMs()
  // Whose path the upstream has.
  let next = attempt.route.fallback
  while (next !== undefined && attempt.channelState.pathState(next.protocol, nowMs) !== 'good') {
    next = next.fallback
  }
  if (next === undefined) {
    if (!mustKeepAll(attempt)) return undefined
    attempt.mayLose = true
    next = first
  }
  attempt.firstRoute = first
  attempt.route = next
  attempt.provider = providerOf(engine, next)
  return attempt
}

/** Another protocol may carry what this one would lose. */
export const mustKeepAll = ({ route, firstRoute, mayLose }: UpstreamAttempt): boolean =>
  !mayLose && (route.fallback !== undefined || firstRoute !== undefined)

export type StreamReply = Extract<TextReply, { kind: 'stream' }>

/** More comments than that before the first event are dropped. */
const maxHeld = 100

/**
 * The bytes of a stream up to its first event: comments before it do not count as an answer. Undefined only
 * once its watcher has an outcome.
 */
export async function firstBytes(
  open: OpenCall,
  { deadline }: UpstreamAttempt,
  { answer, watcher }: StreamReply,
): Promise<Uint8Array | undefined> {
  let held: Uint8Array[] | undefined
  const turns = new ReadTurns()
  deadline.output = watcher
  while (watcher.outcome === undefined) {
    let bytes: Uint8Array | undefined
    try {
      const chunk = await answer.read()
      deadline.touch()
      if (chunk === undefined) watcher.close()
      else {
        if (turns.isDue(chunk.length)) await nextTurn()
        bytes = watcher.take(chunk)
      }
    } catch (error) {
      if (!(error instanceof HttpError)) open.reportBug(error)
      watcher.break()
    }
    if (bytes === undefined) continue
    if (watcher.events > 0) return held === undefined ? bytes : Buffer.concat([...held, bytes])
    held ??= []
    if (held.length < maxHeld) held.push(bytes)
  }
  return undefined
}

/** The attempt is over and its answer complete enough to be charged. */
export function completeAttempt(
  open: OpenCall,
  attempt: UpstreamAttempt,
  upstreamRequestId: string | undefined,
): void {
  recordAttempt(open, attempt, 200, undefined, upstreamRequestId)
  endAttempt(open, attempt)
}

/** Its upstream work is over, whatever the outcome. */
export function endAttempt({ engine, slotOwner }: OpenCall, attempt: UpstreamAttempt): void {
  attempt.deadline.end()
  attempt.stopReadingOn()
  engine.load.running--
  if (slotOwner === lowPriority) engine.load.lowPriority--
  leavePlace(engine, attempt.route.channel, attempt.channelState, slotOwner)
}

/** The attempt has failed. Returns the failure as the caller may read it. */
export function failAttempt(
  open: OpenCall,
  attempt: UpstreamAttempt,
  raw: UpstreamError,
  watcher: StreamWatcher | undefined,
): UpstreamError {
  const { engine, call } = open
  addFailedLoss(open, attempt, raw, watcher)
  endAttempt(open, attempt)
  // An upstream that keeps sending after its own error must not hold an unread connection open.
  attempt.cancel()
  const left = hasLeft(open, attempt)
  const { expired, stopped } = attempt.deadline
  const cause = left ? callerLeft : stopped ? shuttingDown : expired ? timedOut : raw
  const kind = left ? 'caller_left' : stopped ? 'shutting_down' : kindIn(attempt, cause)
  recordFailure(engine, attempt, open.served?.name ?? call.model, cause, kind)
  const error = cleaned(engine, cause, call, attempt.route)
  recordFailed(open, attempt, error, left ? 'caller_left' : error.code)
  if (!left && error.about !== 'translation') logFailure(open, error, raw.cause)
  return error
}

/** What an upstream says is its own; what breaks or is late may be so because the gateway stood still. */
function kindIn({ deadline }: UpstreamAttempt, error: UpstreamError): FailureKind {
  const isSilent = error.httpStatus === undefined && error.about === undefined
  return isSilent && deadline.hasStoodStill ? 'stood_still' : failureKind(error)
}

/** A caller that does not read has left, too. */
export const hasLeft = ({ ctx }: OpenCall, attempt: UpstreamAttempt): boolean =>
  (ctx.signal.aborted || attempt.isAbandoned) && !attempt.deadline.expired

const callerLeft: UpstreamError = { code: 'upstream_error', message: 'the caller left' }
const shuttingDown: UpstreamError = {
  code: 'overloaded',
  message: 'the gateway is shutting down',
  retryAfterSeconds: 2,
}
const timedOut: UpstreamError = {
  code: 'upstream_timeout',
  message: 'the upstream did not answer in time',
}

const recordFailed = (
  open: OpenCall,
  attempt: UpstreamAttempt,
  error: UpstreamError,
  shownCode: string = error.code,
): void => recordAttempt(open, attempt, error.httpStatus, error, error.upstreamRequestId, shownCode)

function recordAttempt(
  { engine, record, served }: OpenCall,
  { route: { channel }, key, startedMs, affinity, moved }: UpstreamAttempt,
  status: number | undefined,
  error: UpstreamError | undefined,
  upstreamRequestId: string | undefined,
  code?: string,
): void {
  if (upstreamRequestId !== undefined && isId(upstreamRequestId)) {
    record.upstreamRequestId = upstreamRequestId
  }
  const afterMs = startedMs - record.atMs
  const attempt: Attempt = { channel: channel.name, afterMs, ms: engine.clock.nowMs() - startedMs }
  const isUnsent = error?.about === 'translation'
  if (served !== undefined) attempt.model = served.name
  if (channel.keys.length > 1) attempt.key = channel.keys.indexOf(key) + 1
  if (status !== undefined) attempt.status = status
  if (error !== undefined) attempt.error = error.message
  if (isUnsent) attempt.unsent = true
  if (affinity !== undefined) attempt.affinity = affinity
  if (moved !== undefined) attempt.moved = moved
  record.detail.attempts.push(attempt)
  // It says nothing about the channel.
  if (!isUnsent) engine.meters?.attempt(channel.name, attempt.ms, code)
}

function logFailure({ engine, ctx, record }: OpenCall, error: UpstreamError, cause: unknown): void {
  engine.log.info('upstream failed', {
    request_id: ctx.requestId,
    trace_id: ctx.trace?.traceId,
    channel: record.channel,
    code: error.code,
    // Its message may repeat the caller's text: only the request's row keeps it.
    status: error.httpStatus,
    cause: cause instanceof Error ? cause.message : cause,
  })
}
