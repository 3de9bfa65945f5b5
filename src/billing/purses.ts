// When several gateways share a database, each draws credit from an account before it spends it:
// calls are held against the purse in memory, charges come out of it, and what nobody needs goes
// back. What is in a purse is out of every other gateway's reach, so no two can spend it.
//
//   account: balance ── held by tasks
//                    ── drawn into purses ──> this gateway's ── holds of its calls
//                    └─ free: for draws and tasks              └─ spendable
import { crashPoint } from '../lib/crash-point.ts'
import type { Notice, Sharing, Store } from '../store/index.ts'
import { emptyPurse, fillPurse, othersHaveDrawn } from '../store/purses.ts'
import { type AccountFunds, availableNanos, type Balances } from './balances.ts'

/** A draw brings as much as this many more calls of the same size would take, if there is plenty. */
const callsAhead = 32n
/** Of an account that is spent from all the time; every draw in a row brings twice as much. */
const mostCallsAhead = 8192n
/** Draws that follow each other within this are in a row. */
const inRowMs = 1_000
/** No draw takes more than this part of what is free, unless a call needs it. */
const freeShare = 4n
/** What was not touched for this long goes back. */
const idleMs = 5_000
/** Waits for other gateways to give back what somebody lacks; after these it is lacking. */
const gatherWaitsMs = [20, 60, 200, 400] as const
/** An account that was found empty is not asked about again for this long. */
const emptyMs = 100

export class Purses {
  readonly #store: Store
  readonly #sharing: Sharing
  readonly #balances: Balances
  readonly #drawing = new Map<string, Promise<void>>()
  readonly #emptyUntilMs = new Map<string, number>()
  readonly #paces = new Map<string, Pace>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(store: Store, sharing: Sharing, balances: Balances) {
    this.#store = store
    this.#sharing = sharing
    this.#balances = balances
    sharing.hear((notice) => this.#heard(notice))
    this.#timer = setInterval(() => this.#returnIdle(), idleMs)
    this.#timer.unref()
  }

  /** Tries to have `wantedNanos` spendable when this resolves. */
  async draw(funds: AccountFunds, wantedNanos: bigint): Promise<void> {
    if (performance.now() < (this.#emptyUntilMs.get(funds.id) ?? 0)) return
    const lacks = () => availableNanos(funds) < wantedNanos && !funds.stale
    let asked = true
    for (const waitMs of [0, ...gatherWaitsMs]) {
      asked = waitMs === 0 || (await this.#ask(funds, waitMs))
      if (!asked) break
      await this.#fill(funds, wantedNanos, sized)
      if (!lacks()) return
    }
    await this.#fill(funds, wantedNanos, whatThereIs)
    // With nobody to ask, this was quick: it must not be a way to keep the store busy.
    if (!asked && lacks()) this.#emptyUntilMs.set(funds.id, performance.now() + emptyMs)
  }

  /** For what is taken from the account itself: true when another try is worth it. */
  async gather(funds: AccountFunds, tries: number): Promise<boolean> {
    const given = await this.giveBack(funds)
    if (given && tries === 0) return true
    const waitMs = gatherWaitsMs[tries]
    return waitMs !== undefined && this.#ask(funds, waitMs)
  }

  /** Money has come in, or become free. */
  freed(accountId: string): void {
    this.#emptyUntilMs.delete(accountId)
  }

  /** What no call holds goes back to the account; false when there was nothing. */
  async giveBack(funds: AccountFunds): Promise<boolean> {
    const amountNanos = availableNanos(funds)
    if (amountNanos <= 0n || funds.stale) return false
    // From here on nobody can spend it.
    funds.balanceNanos -= amountNanos
    const { gatewayId } = this.#sharing
    const returned = await this.#balances.tracked(funds, () =>
      this.#store.tx((tx) => emptyPurse(tx, { accountId: funds.id, gatewayId }, amountNanos)),
    )
    crashPoint('purse-returned')
    if (!returned) this.#balances.suspect(funds)
    return returned
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** One draw per account at a time: it may bring enough for those who wait. */
  async #fill(funds: AccountFunds, wantedNanos: bigint, size: Size): Promise<void> {
    while (this.#drawing.has(funds.id)) await this.#drawing.get(funds.id)
    if (availableNanos(funds) >= wantedNanos || funds.stale) return
    const lackingNanos = wantedNanos - availableNanos(funds)
    const drawing = this.#fillNow(funds, lackingNanos, size)
    this.#drawing.set(funds.id, drawing)
    await drawing.finally(() => this.#drawing.delete(funds.id))
  }

  async #fillNow(funds: AccountFunds, lackingNanos: bigint, size: Size): Promise<void> {
    const purse = { accountId: funds.id, gatewayId: this.#sharing.gatewayId }
    const aheadNanos = lackingNanos * this.#pace(funds.id)
    const drawn = await this.#balances.tracked(funds, () =>
      this.#store.tx((tx) => fillPurse(tx, purse, (free) => size(lackingNanos, free, aheadNanos))),
    )
    crashPoint('purse-drawn')
    if (drawn === undefined) this.#balances.suspect(funds)
    else funds.balanceNanos += drawn
  }

  /** How many calls ahead this draw is for: draws of a busy account must be rare, they lock it. */
  #pace(accountId: string): bigint {
    const nowMs = performance.now()
    const last = this.#paces.get(accountId)
    const isInRow = last !== undefined && nowMs - last.atMs < inRowMs
    const calls = isInRow ? smaller(last.calls * 2n, mostCallsAhead) : callsAhead
    this.#paces.set(accountId, { atMs: nowMs, calls })
    return calls
  }

  /** Whether somebody else has any of it, and has been asked for it. */
  async #ask(funds: AccountFunds, waitMs: number): Promise<boolean> {
    const purse = { accountId: funds.id, gatewayId: this.#sharing.gatewayId }
    if (!(await othersHaveDrawn(this.#store.read, purse))) return false
    this.#sharing.tell({ kind: 'wanted', accountId: funds.id })
    await new Promise((go) => setTimeout(go, waitMs))
    // Who does not answer may be dead.
    if (waitMs > gatherWaitsMs[0]) await this.#sharing.sweep()
    return true
  }

  #heard(notice: Notice): void {
    if (notice.kind === 'buried') {
      for (const funds of this.#balances.all()) this.#balances.suspect(funds)
    }
    if (notice.kind !== 'wanted') return
    const funds = this.#balances.find(notice.accountId)
    if (funds !== undefined) this.#giveBackQuietly(funds)
  }

  #returnIdle(): void {
    for (const funds of this.#balances.all()) {
      if (!funds.touched) {
        this.#paces.delete(funds.id)
        this.#giveBackQuietly(funds)
      }
      funds.touched = false
    }
  }

  /** A return that fails has made the account suspect, which sets it right. */
  #giveBackQuietly(funds: AccountFunds): void {
    this.giveBack(funds).catch(() => {})
  }
}

interface Pace {
  atMs: number
  calls: bigint
}

type Size = (lackingNanos: bigint, freeNanos: bigint, aheadNanos: bigint) => bigint

function sized(lackingNanos: bigint, freeNanos: bigint, aheadNanos: bigint): bigint {
  if (freeNanos < lackingNanos) return 0n
  const share = freeNanos / freeShare
  const wanted = smaller(aheadNanos, share)
  return wanted > lackingNanos ? wanted : lackingNanos
}

const whatThereIs: Size = (lackingNanos, freeNanos) => smaller(freeNanos, lackingNanos)

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}
