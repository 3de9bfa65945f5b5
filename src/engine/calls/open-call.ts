// A text call between admission and its end: what its phases share, and what they need of the engine.
// Exactly one of settleCall and giveUp (settle-call.ts) ends its hold.
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Protocol } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type { Provider, TextProvider, TextReply } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import type { Cancellation } from '../../lib/cancellation.ts'
import type { Admission, AdmissionDeps } from '../admission/admit.ts'
import type { Cleans, Load } from '../base-deps.ts'
import type { Conversations } from '../routing/affinity.ts'
import type { LearnDeps } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import type { RetryBudget } from '../routing/retry-budget.ts'
import type { PlaceDeps } from '../routing/take-place.ts'
import type { RecordDeps } from './call-record.ts'
import type { Deadline, Deadlines } from './deadlines.ts'

export type CallDeps = AdmissionDeps & PlaceDeps & LearnDeps & RecordDeps & TextDeps

interface TextDeps extends Cleans {
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly http: HttpPort
  readonly deadlines: Deadlines
  readonly routing: { readonly retries: RetryBudget; readonly conversations: Conversations }
  readonly limits: { abandonedStreams: number; abandonedMs: number; bodyBytes: number }
  readonly load: Load
}

export interface OpenCall {
  readonly engine: CallDeps
  readonly ctx: CallContext
  /** As it goes upstream. */
  readonly call: TextCall
  readonly admission: Admission
  readonly record: RequestRecord
  /** By the monotonic clock: when it arrived, and the time spent at upstreams. */
  readonly beganMs: number
  upstreamMs: number
}

/** One attempt at one channel. */
export interface UpstreamAttempt extends PickedRoute {
  /** The holder of its slot at the channel. */
  readonly accountId: string
  readonly provider: TextProvider
  readonly stop: Cancellation
  readonly deadline: Deadline
  readonly startedMs: number
  /** The caller has left its stream, or did not read it. */
  isAbandoned?: true
  /** Of the request that it sends: without sealed reasoning. */
  readonly withoutSeals?: true
  /** The protocol of its channel that was picked, while another one may carry more of the request. */
  readonly firstRoute?: Route
  /** No protocol of the channel carries all settings, so that the first that carries the rest may. */
  readonly mayLose?: true
}

export type StreamReply = Extract<TextReply, { kind: 'stream' }>

/** A stream from its first bytes on; these may be the whole of it. */
export interface BegunStream {
  readonly kind: 'stream'
  readonly reply: StreamReply
  readonly attempt: UpstreamAttempt
  /** Until the caller gets them: they would keep a network buffer as long as the stream. */
  first: Uint8Array | undefined
}

export const reportBug = ({ engine, ctx }: OpenCall, error: unknown): void =>
  engine.log.error('unexpected error', {
    request_id: ctx.requestId,
    trace_id: ctx.trace?.traceId,
    error,
  })
