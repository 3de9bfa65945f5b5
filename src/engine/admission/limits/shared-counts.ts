// Client for the counts that gateways share in Redis. Only reads and writes them; rate-limits.ts
// decides whether to trust a reply and what to do during an outage.
import type { TokenLimits } from '../../../contract/catalog.ts'
import {
  openRedis,
  type Redis,
  type RedisTimes,
  type RunScript,
  redisAway,
} from '../../../lib/net/redis.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import { shareOf } from './judge.ts'
import { beatScript, enterScript, leaveScript } from './shared-scripts.ts'
import type { TokenCount, TokenCounts, TokenUsageState } from './token-counts.ts'

export interface SharedTimes extends RedisTimes {
  /** Heartbeat interval of a gateway; its running calls count for aliveMs after one. */
  beatMs: number
  aliveMs: number
}

interface SharedOptions {
  redisUrl: string
  nowMs: () => number
  log: Log
  instanceId: string
  times: SharedTimes
}

interface SharedUsage extends TokenUsageState {
  admitted: boolean
  minute: number
}

const prefix = 'gateway:rate:'
const gatewaysKey = `${prefix}gateways`
const windowKey = (tokenId: string) => `${prefix}window:${tokenId}`
const runningKey = (tokenId: string) => `${prefix}running:${tokenId}`
const tokensPerBeat = 500

const minRunning = (count: TokenCount) => count.running
const maxRunning = (count: TokenCount) => count.running + count.asking

export class SharedCounts {
  /** Gateways alive at the last reply of Redis. */
  gateways = 1
  /** Offset from our clock to that of Redis, so that both count the same minutes. */
  aheadMs = 0
  readonly #options: SharedOptions
  readonly #counts: TokenCounts
  readonly #redis: Redis

  constructor(options: SharedOptions, counts: TokenCounts) {
    const { log, redisUrl: url, times } = options
    this.#options = options
    this.#counts = counts
    this.#redis = openRedis({
      url,
      times,
      greet: (run) => this.#beat(run),
      onLost: (reason) =>
        log.warn('Redis unavailable; this gateway applies its share of the rate limits', {
          reason,
        }),
      onBack: () => log.info('Redis available; the rate limits are shared again'),
    })
  }

  get ready(): boolean {
    return this.#redis.ready
  }

  /** Asks for permission to begin a call; counted there if granted. */
  async enter(
    tokenId: string,
    count: TokenCount,
    { rpm, tpm, concurrency }: TokenLimits,
    cost: number,
  ): Promise<SharedUsage | typeof redisAway> {
    const limit = (value: number | undefined) => (value === undefined ? '' : shareOf(value, 1))
    const { instanceId, times } = this.#options
    const args = [instanceId, times.aliveMs, limit(rpm), limit(tpm), limit(concurrency), cost]
    const keys = [windowKey(tokenId), runningKey(tokenId), gatewaysKey]
    const { requests, tokens } = count
    const own = [requests.current, requests.previous, tokens.current, tokens.previous]
    const reply = await this.#redis.run(enterScript, keys, [
      ...args,
      minRunning(count),
      maxRunning(count),
      count.minute,
      ...own,
    ])
    return this.#readUsage(reply)
  }

  #readUsage(reply: unknown): SharedUsage | typeof redisAway {
    const numbers = readNumbers(reply, 9)
    if (numbers === undefined) return redisAway
    const [admitted, gateways, minute, leftMs, ...tallies] = numbers
    const [requests, requestsBefore, tokens, tokensBefore, running] = tallies
    // None at all: Redis has lost its data, and no gateway has registered since.
    if (gateways !== 0) this.gateways = gateways!
    return {
      admitted: admitted === 1,
      minute: minute!,
      leftMs: leftMs!,
      requests: { current: requests!, previous: requestsBefore! },
      tokens: { current: tokens!, previous: tokensBefore! },
      running: running!,
    }
  }

  /** Reports the end of a call, without waiting: the next heartbeat repairs a lost report. */
  leave(
    tokenId: string,
    count: TokenCount,
    correction: { minute: number | undefined; by: number; concurrency: boolean },
  ): void {
    const { minute, by, concurrency } = correction
    const corrects = minute !== undefined && by !== 0
    if (!this.ready || !(corrects || concurrency)) return
    void this.#redis.run(
      leaveScript,
      [windowKey(tokenId), runningKey(tokenId)],
      [
        this.#options.instanceId,
        minute ?? '',
        by,
        concurrency ? minRunning(count) : '',
        concurrency ? maxRunning(count) : '',
      ],
    )
  }

  /** Heartbeat: shows that this gateway lives, and repeats which calls it runs. */
  beat(): void {
    if (this.ready) void this.#beat(this.#redis.run)
  }

  async #beat(run: RunScript): Promise<boolean> {
    const { instanceId, times, nowMs } = this.#options
    const all = [...this.#counts.shared()]
    for (let first = 0; first === 0 || first < all.length; first += tokensPerBeat) {
      const part = all.slice(first, first + tokensPerBeat)
      const numbers = part.flatMap(([, count]) => [minRunning(count), maxRunning(count)])
      // From here on Redis has no count for a token with nothing to report.
      for (const [, count] of part) count.shared = maxRunning(count) > 0
      const reply = await run(
        beatScript,
        [gatewaysKey, ...part.map(([tokenId]) => runningKey(tokenId))],
        [instanceId, times.aliveMs, ...numbers],
      )
      const answer = readNumbers(reply, 2)
      if (answer === undefined) {
        for (const [, count] of all) count.shared = true
        return false
      }
      const [gateways, redisMs] = answer
      this.gateways = gateways!
      this.aheadMs = redisMs! - nowMs()
    }
    return true
  }

  close(): void {
    this.#redis.close()
  }
}

/** A server that replies otherwise is not a Redis we support, and counts as unavailable. */
function readNumbers(reply: unknown, length: number): number[] | undefined {
  const fits = Array.isArray(reply) && reply.length === length && reply.every(Number.isFinite)
  return fits ? reply : undefined
}
