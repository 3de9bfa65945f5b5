// A text call from its arrival to its end: one object, which each phase reads and fills in. Exactly one of
// settleCall and giveUp (settle-call.ts) ends its hold.
import type { Hold } from '../../billing/ledger.ts'
import type { Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Model, Protocol } from '../../contract/catalog.ts'
import type { HttpPort } from '../../contract/http.ts'
import type { Applied, Price } from '../../contract/price.ts'
import type { Provider } from '../../contract/provider.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import type { RatePass } from '../admission/limits/rate-limits.ts'
import type { ReserveDeps } from '../admission/reserve.ts'
import type { TextBounds } from '../admission/text-bounds.ts'
import type { Cleans, Declares, Load, Offers, Seals } from '../base-deps.ts'
import type { Jobs } from '../jobs.ts'
import type { Conversations, Placement } from '../routing/affinity.ts'
import type { LearnDeps } from '../routing/learn.ts'
import type { Tried } from '../routing/pick-route.ts'
import type { RetryBudget } from '../routing/retry-budget.ts'
import type { PlaceDeps } from '../routing/take-place.ts'
import { lowPriority } from '../routing/waiting-room.ts'
import { newRecord, type RecordDeps, recordBody } from './call-record.ts'
import type { Deadlines } from './deadlines.ts'

export type CallDeps = ReserveDeps & PlaceDeps & LearnDeps & RecordDeps & TextDeps

interface TextDeps extends Cleans, Declares, Offers, Seals {
  readonly random: () => number
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly http: HttpPort
  readonly deadlines: Deadlines
  readonly routing: { readonly retries: RetryBudget; readonly conversations: Conversations }
  readonly limits: { abandonedStreams: number; abandonedMs: number; bodyBytes: number }
  readonly jobs: Pick<Jobs, 'clockWatch' | 'emptyAccounts'>
  readonly load: Load
}

/** A model that can serve a call: how, at which price, and how much it may use. */
export interface TextMember {
  model: Model
  routes: readonly Route[]
  price: Price
  applied: Applied | undefined
  bounds: TextBounds
}

export class OpenCall implements EventListenerObject {
  readonly engine: CallDeps
  readonly ctx: CallContext
  /** As it goes upstream. */
  call: TextCall
  readonly record: RequestRecord
  readonly accountId: string
  /** Whose slots it takes: its account's, or those of all calls of low priority. */
  readonly slotOwner: string
  /** By the monotonic clock: when it arrived, and the time spent at upstreams. */
  readonly beganMs = performance.now()
  upstreamMs = 0

  // Set by its admission.

  /** Candidate routes, best first. */
  routes: readonly Route[] = []
  /** Routes among these that are excluded. */
  tried: Tried | undefined
  /** Where its conversation belongs; undefined: nowhere, or there is no choice. */
  placement: Placement | undefined
  price!: Price
  /** Terms of the price beside its rates that it is charged by; undefined: none, as most calls. */
  applied: Applied | undefined
  /** When it was, by the clock: hours and versions of prices are those of then. */
  admittedMs = 0
  /** Its maximum usage; the hold is the price of it. */
  bounds!: TextBounds
  hold!: Hold
  pass!: RatePass
  /** The member of a virtual model that it goes to now; undefined: the model has no members. */
  served: Model | undefined
  /** Members that may serve it if that one cannot, best first. */
  others: readonly TextMember[] | undefined

  /** What has to know that the caller has left: the attempt under way, then its stream. */
  underWay: EventListenerObject | undefined

  constructor(engine: CallDeps, ctx: CallContext, call: TextCall) {
    this.engine = engine
    this.ctx = ctx
    this.call = call
    this.accountId = ctx.token.accountId
    this.slotOwner = ctx.own?.full === undefined ? this.accountId : lowPriority
    this.record = newRecord(ctx, call.interface, call.model)
    this.record.detail.stream = call.stream
  }

  /** The caller has left. */
  hasLeft = false
  handleEvent(event: Event): void {
    this.hasLeft = true
    recordBody(this.record, this.ctx)
    this.underWay?.handleEvent(event)
  }

  reportBug(error: unknown): void {
    const { requestId, trace } = this.ctx
    this.engine.log.error('unexpected error', {
      request_id: requestId,
      trace_id: trace?.traceId,
      error,
    })
  }
}
