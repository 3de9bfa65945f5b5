// Draws and returns of budget leases in the store. A draw locks the account, so that one moment decides
// for all waiting calls: what is spent, what tasks hold, and what each gateway has leased. Leases have
// no date: at the border of a period only what is spent begins anew, and open holds count on.
import { gatewayOf, type Store, type Tx } from '../../store/index.ts'
import { type BudgetSpend, lockBudgets } from '../../store/ledger/budget-spend.ts'
import { isEvicted, writeBudgetLeases } from '../../store/ledger/budgets.ts'
import type { AccountBudgets, BudgetFunds, BudgetWaiter } from './budget-funds.ts'
import { takeHold } from './budget-funds.ts'
import { aheadOf, type Decision, decide, maxOf, type Room } from './decide.ts'

/** Whether there is room is unknown at the moment. */
export class BudgetUnknown extends Error {}

interface DrawDeps {
  readonly store: Store
  readonly nowMs: () => number
}

interface RefusedWaiter {
  waiter: BudgetWaiter
  lacking: readonly BudgetFunds[]
}

interface Draw {
  refused: readonly RefusedWaiter[]
  /** Other gateways with a lease of a budget that lacks room. */
  holders: readonly string[]
}

interface Written extends Decision {
  rooms: ReadonlyMap<string, Room>
  spends: ReadonlyMap<string, BudgetSpend>
  leases: ReadonlyMap<string, bigint>
}

/** Draws what these waiters need and holds it for them in the turn in which it arrives. */
export function drawBudgets(
  { store, nowMs }: DrawDeps,
  account: AccountBudgets,
  asking: ReadonlySet<BudgetWaiter>,
): Promise<Draw> {
  return account.inTurn(async () => {
    const waiters = account.waiters.filter((waiter) => asking.has(waiter))
    if (waiters.length === 0) return { refused: [], holders: [] }
    const funds = [...new Set(waiters.flatMap((waiter) => waiter.funds))]
    const kept = keepOnlyHeld(funds)
    const turn = { account, waiters, kept, nowMs: nowMs() }
    const written = await store.tx((tx) => write(tx, store, turn), account.id)
    if (written === undefined) throw new BudgetUnknown('the others have given this gateway up')
    return apply(store, turn, written)
  })
}

/** From here on no call can take more; returns what must stay leased. */
function keepOnlyHeld(funds: readonly BudgetFunds[]): ReadonlyMap<BudgetFunds, bigint> {
  for (const each of funds) {
    each.leasedNanos = each.heldNanos
    each.isOver = true
    each.storedNanos = undefined
  }
  return new Map(funds.map((each) => [each, each.heldNanos]))
}

interface Turn {
  account: AccountBudgets
  waiters: readonly BudgetWaiter[]
  kept: ReadonlyMap<BudgetFunds, bigint>
  nowMs: number
}

/** Undefined: this gateway has been evicted. May run again, so it changes only rows. */
async function write(
  tx: Tx,
  store: Store,
  { account, waiters, kept, nowMs }: Turn,
): Promise<Written | undefined> {
  const { dialect } = store
  const gatewayId = gatewayOf(store)
  if (await isEvicted(tx, { gatewayId, dialect })) return undefined
  const ids = [...kept.keys()].map(({ budget }) => budget.id)
  const locked = await lockBudgets(tx, nowMs, { accountId: account.id, ids, dialect })
  const spends = new Map(locked.map((spend) => [spend.id, spend]))
  const rooms = new Map<string, Room>()
  for (const [{ budget }, keptNanos] of kept) {
    const spend = spends.get(budget.id)
    if (spend !== undefined) rooms.set(budget.id, roomOf(spend, gatewayId, keptNanos))
  }
  const wants = waiters.map(({ funds, nanos }) => ({ ids: funds.map(idOf), nanos }))
  const decision = decide(rooms, wants)
  const maxWant = maxOf(...wants.map(({ nanos }) => nanos))
  const isScarce = performance.now() < account.scarceUntilMs
  const leases = leasesFor(kept, rooms, decision, isScarce ? 0n : maxWant)
  const amounts = [...leases].map(([budgetId, amountNanos]) => ({ budgetId, amountNanos }))
  await writeBudgetLeases(tx, gatewayId, amounts)
  return { ...decision, rooms, spends, leases }
}

function leasesFor(
  kept: Turn['kept'],
  rooms: ReadonlyMap<string, Room>,
  { lacking, takenNanos }: Decision,
  aheadNanos: bigint,
): Map<string, bigint> {
  const short = new Set(lacking.flat())
  const leases = new Map<string, bigint>()
  for (const [{ budget }, keptNanos] of kept) {
    const taken = takenNanos.get(budget.id) ?? 0n
    const leftNanos = (rooms.get(budget.id)?.freeNanos ?? 0n) - taken
    const isPlenty = taken > 0n && !short.has(budget.id)
    const ahead = isPlenty ? aheadOf(leftNanos, aheadNanos) : 0n
    leases.set(budget.id, keptNanos + taken + ahead)
  }
  return leases
}

const idOf = ({ budget }: BudgetFunds): string => budget.id

function roomOf(spend: BudgetSpend, gatewayId: string, keptNanos: bigint): Room {
  let takenNanos = spend.spentNanos + spend.taskNanos + keptNanos
  for (const [holder, nanos] of spend.leases) if (holder !== gatewayId) takenNanos += nanos
  return { amountNanos: spend.amountNanos, freeNanos: spend.amountNanos - takenNanos }
}

function apply(
  store: Store,
  { account, waiters, kept }: Turn,
  { lacking, rooms, spends, leases }: Written,
): Draw {
  for (const [each, keptNanos] of kept) {
    const leasedNanos = leases.get(each.budget.id)!
    // What was charged meanwhile has been taken from what was kept.
    each.leasedNanos += leasedNanos - keptNanos
    each.storedNanos = leasedNanos
    each.isOver = (rooms.get(each.budget.id)?.freeNanos ?? 0n) < 0n
    const spend = spends.get(each.budget.id)
    if (spend !== undefined) {
      each.known = { spentNanos: spend.spentNanos, untilMs: spend.period.untilMs }
    }
  }
  const refused: RefusedWaiter[] = []
  waiters.forEach((waiter, at) => {
    const short = lacking[at]!
    if (short.length > 0) {
      const without = waiter.funds.filter(({ budget }) => short.includes(budget.id))
      refused.push({ waiter, lacking: without })
      return
    }
    waiter.resolve(takeHold({ account, funds: [...waiter.funds], nanos: waiter.nanos }))
  })
  const left = new Set(refused.map(({ waiter }) => waiter))
  const served = new Set(waiters.filter((waiter) => !left.has(waiter)))
  account.waiters = account.waiters.filter((waiter) => !served.has(waiter))
  const ids = new Set(refused.flatMap((each) => each.lacking.map(idOf)))
  return { refused, holders: otherHolders(spends, ids, gatewayOf(store)) }
}

export function otherHolders(
  spends: ReadonlyMap<string, BudgetSpend>,
  ids: Iterable<string>,
  gatewayId: string,
): string[] {
  const holders = [...ids].flatMap((id) => [...(spends.get(id)?.leases.keys() ?? [])])
  return [...new Set(holders)].filter((holder) => holder !== gatewayId)
}

/** Returns what no call holds; resolves to the amount. `first` changes what is held, before that. */
export function returnBudgets(
  store: Store,
  account: AccountBudgets,
  first?: () => void,
): Promise<bigint> {
  return account.inTurn(async () => {
    first?.()
    const unused = [...account.all.values()].filter(
      ({ storedNanos, heldNanos }) => storedNanos !== heldNanos,
    )
    if (unused.length === 0) return 0n
    const before = unused.map(({ storedNanos, leasedNanos }) => storedNanos ?? leasedNanos)
    const kept = keepOnlyHeld(unused)
    const leases = [...kept].map(([each, amountNanos]) => ({ budgetId: idOf(each), amountNanos }))
    const gateway = { gatewayId: gatewayOf(store), dialect: store.dialect }
    const isGone = await store.tx(async (tx) => {
      if (await isEvicted(tx, gateway)) return true
      await writeBudgetLeases(tx, gateway.gatewayId, leases)
      return false
    })
    if (isGone) return 0n
    let returned = 0n
    unused.forEach((each, at) => {
      each.storedNanos = leases[at]!.amountNanos
      returned += before[at]! - leases[at]!.amountNanos
    })
    return returned
  })
}
