// Per-token rate limits: requests and counted tokens per minute, and concurrent calls. Gateways
// share the counts through Redis; without it, or during an outage, each uses its own. Never
// unlimited.
import type { TokenLimits } from '../../../contract/catalog.ts'
import type { Refusal } from '../../../contract/errors.ts'
import type { RateView } from '../../../contract/rate.ts'
import { ensure } from '../../../lib/ensure.ts'
import { redisAway } from '../../../lib/net/redis.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import { judge, viewOf } from './judge.ts'
import { SharedCounts, type SharedTimes } from './shared-counts.ts'
import { type TokenCount, TokenCounts } from './token-counts.ts'

export type { RateView } from '../../../contract/rate.ts'

/** Permission to run one call; released exactly once. */
export interface RatePass {
  readonly view: RateView | undefined
  /**
   * The call is over. `usedTokens` corrects the estimate; undefined means that nothing was used. A
   * second call does nothing.
   */
  leave(usedTokens: number | undefined): void
}

export interface LimitedToken {
  readonly id: string
  readonly limits: TokenLimits
}

export interface RateLimits {
  /** Synchronous unless Redis has to be asked. */
  enter(
    token: LimitedToken,
    estimatedTokens: number,
  ): RatePass | Refusal | Promise<RatePass | Refusal>
  /** Whether even the smallest call would exceed a limit, by the local counts; counts nothing. */
  refusalNow(token: LimitedToken): Refusal | undefined
  close(): void
}

interface RateLimitsOptions {
  redisUrl?: string
  nowMs: () => number
  log: Log
  /** Unique for every gateway that shares a Redis. */
  instanceId: string
  /** Processes of this gateway: without Redis each uses its share. */
  sharers?: number
  times?: Partial<SharedTimes>
}

const usualTimes: SharedTimes = {
  commandMs: 100,
  connectMs: 1000,
  retryMs: 1000,
  beatMs: 5000,
  aliveMs: 15_000,
}

/** Maximum that one call counts as, so that sums stay exact. */
const maxCountedTokens = 1_000_000_000

/** A number safe to count with; an invalid one must not disable a limit. */
const counted = (tokens: number): number =>
  tokens > 0 ? Math.min(Math.ceil(tokens), maxCountedTokens) : 0

export const freePass: RatePass = Object.freeze({ view: undefined, leave() {} })

export const createRateLimits = (options: RateLimitsOptions): RateLimits => new Limits(options)

class Limits implements RateLimits {
  readonly #nowMs: () => number
  readonly #counts = new TokenCounts()
  readonly #shared: SharedCounts | undefined
  readonly #sharers: number
  readonly #timer: ReturnType<typeof setInterval>

  constructor({ redisUrl, sharers = 1, times: given, ...rest }: RateLimitsOptions) {
    const times = { ...usualTimes, ...given }
    this.#nowMs = rest.nowMs
    this.#sharers = sharers
    if (redisUrl !== undefined) {
      this.#shared = new SharedCounts({ ...rest, redisUrl, times }, this.#counts)
      this.#shared.gateways = sharers
    }
    this.#timer = setInterval(() => this.#beat(), times.beatMs)
    this.#timer.unref()
  }

  enter(
    token: LimitedToken,
    estimatedTokens: number,
  ): RatePass | Refusal | Promise<RatePass | Refusal> {
    const { limits } = token
    const { rpm, tpm, concurrency } = limits
    if (rpm === undefined && tpm === undefined && concurrency === undefined) return freePass
    const cost = tpm === undefined ? 0 : counted(estimatedTokens)
    const shared = this.#shared
    if (shared === undefined || !shared.ready) return this.#enterHere(token, cost)
    // A call over the local counts is refused here: Redis need not be asked, and a Redis that lost
    // its data cannot disable a limit.
    const refusal = judge(this.#count(token), limits, 1, cost)
    return refusal ?? this.#enterShared(shared, token, cost)
  }

  refusalNow(token: LimitedToken): Refusal | undefined {
    const { rpm, tpm, concurrency } = token.limits
    if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined
    const shared = this.#shared
    const gateways = shared?.ready === true ? 1 : (shared?.gateways ?? this.#sharers)
    return judge(this.#count(token), token.limits, gateways, 0)
  }

  #enterHere(token: LimitedToken, cost: number): RatePass | Refusal {
    const gateways = this.#shared?.gateways ?? this.#sharers
    const count = this.#count(token)
    const refusal = judge(count, token.limits, gateways, cost)
    if (refusal !== undefined) return refusal
    count.admit(cost)
    return new Pass(this.#shared, token, count, cost, viewOf(count, token.limits, gateways))
  }

  async #enterShared(
    shared: SharedCounts,
    token: LimitedToken,
    cost: number,
  ): Promise<RatePass | Refusal> {
    const count = this.#count(token)
    const asked = shared.enter(token.id, count, token.limits, cost)
    count.asking++
    const channelState = await asked
    // No await from here to admit(): in between, the call would count neither as pending nor as
    // running.
    count.asking--
    if (channelState === redisAway) return this.#enterHere(token, cost)
    if (!channelState.admitted) {
      const refusal = judge(channelState, token.limits, 1, cost)
      ensure(refusal !== undefined, 'the script refuses what judge() refuses')
      return refusal
    }
    count.turn(this.#now())
    // A Redis that lost its data meanwhile may have admitted more than the local counts allow.
    const refusal = judge(count, token.limits, 1, cost)
    if (refusal !== undefined) {
      const { minute } = channelState
      const concurrency = token.limits.concurrency !== undefined
      shared.leave(token.id, count, { minute, by: -cost, concurrency })
      return refusal
    }
    count.admit(cost)
    const view = viewOf(channelState, token.limits, 1)
    return new Pass(shared, token, count, cost, view, channelState.minute)
  }

  #now(): number {
    return this.#nowMs() + (this.#shared?.aheadMs ?? 0)
  }

  #count({ id, limits }: LimitedToken): TokenCount {
    const count = this.#counts.at(id, this.#now())
    if (this.#shared !== undefined && limits.concurrency !== undefined) count.shared = true
    return count
  }

  #beat(): void {
    this.#counts.sweep(this.#now())
    this.#shared?.beat()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#shared?.close()
  }
}

class Pass implements RatePass {
  readonly view: RateView | undefined
  readonly #shared: SharedCounts | undefined
  readonly #token: LimitedToken
  readonly #count: TokenCount
  readonly #cost: number
  readonly #minute: number
  /** The minute in which Redis counted this call; undefined when it did not. */
  readonly #sharedMinute: number | undefined
  #left = false

  constructor(
    shared: SharedCounts | undefined,
    token: LimitedToken,
    count: TokenCount,
    cost: number,
    view: RateView | undefined,
    sharedMinute?: number,
  ) {
    this.view = view
    this.#shared = shared
    this.#token = token
    this.#count = count
    this.#cost = cost
    this.#minute = count.minute
    this.#sharedMinute = sharedMinute
  }

  leave(usedTokens: number | undefined): void {
    if (this.#left) return
    this.#left = true
    const { id, limits } = this.#token
    const by = limits.tpm === undefined ? 0 : counted(usedTokens ?? 0) - this.#cost
    this.#count.running--
    this.#count.correct(this.#minute, by)
    this.#shared?.leave(id, this.#count, {
      minute: this.#sharedMinute,
      by,
      concurrency: limits.concurrency !== undefined,
    })
  }
}
