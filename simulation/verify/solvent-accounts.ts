// An account with enough money is not refused for lack of money and pays in full: tracks what each account could
// spend, and checks every refusal and every shortfall against it.
import { availableNanos } from '../../src/billing/balances.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { SimContext } from '../world/context.ts'

/** More than any text call or task of a world costs. */
const solventNanos = { text: 20_000_000_000n, task: 100_000_000_000n }
/** How long a gateway may take to learn of a balance. */
const windowMs = 12_000

interface Sample {
  atMs: number
  freeNanos: bigint
}

export class SolventAccounts {
  readonly #samples = new Map<string, Sample[]>()

  /** What an account could spend now, over all gateways. */
  follow(context: SimContext, gateways: readonly SimGateway[], accountId: string): void {
    const samples = this.#samples.get(accountId) ?? []
    samples.push({ atMs: context.world.nowMs, freeNanos: freeOf(context, gateways, accountId) })
    while (samples[0]!.atMs < context.world.nowMs - windowMs) samples.shift()
    this.#samples.set(accountId, samples)
  }

  /** Whether it was solvent for longer than any decision of this moment can look back. */
  has(accountId: string, what: keyof typeof solventNanos): boolean {
    const samples = this.#samples.get(accountId) ?? []
    return samples.length > 0 && samples.every(({ freeNanos }) => freeNanos >= solventNanos[what])
  }
}

function freeOf({ db }: SimContext, gateways: readonly SimGateway[], accountId: string): bigint {
  const isAlone = gateways.length === 1
  let free = 0n
  for (const { engine, cluster, ready } of gateways) {
    if (engine === undefined || !ready || (!isAlone && cluster?.here !== true)) continue
    const funds = engine.ledger.funds(accountId)
    if (!funds.stale) free += availableNanos(funds)
  }
  if (isAlone) return free
  const [row] = db.query<{ free: bigint }>(
    'SELECT balance_nanos - held_nanos - leased_nanos AS free FROM accounts WHERE id = ?',
    [accountId],
  ).rows
  return free + BigInt(row?.free ?? 0n)
}
