// Who has plenty is not turned away for want of money, and pays in full: what an account could have spent
// is followed all the time, and every refusal and every shortfall is held against it.
import { availableNanos } from '../../src/billing/balances.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { Stage } from '../world/context.ts'

/** More than any call of text may cost in a world, and more than any task. */
const plentyNanos = { text: 20_000_000_000n, task: 100_000_000_000n }
/** As long as a gateway may take to find out what there is. */
const windowMs = 12_000

interface Sample {
  atMs: number
  freeNanos: bigint
}

export class Plenty {
  readonly #samples = new Map<string, Sample[]>()

  /** What an account could spend at this moment, wherever that is. */
  follow(stage: Stage, gateways: readonly SimGateway[], accountId: string): void {
    const samples = this.#samples.get(accountId) ?? []
    samples.push({ atMs: stage.world.nowMs, freeNanos: freeOf(stage, gateways, accountId) })
    while (samples[0]!.atMs < stage.world.nowMs - windowMs) samples.shift()
    this.#samples.set(accountId, samples)
  }

  /** Whether it has had plenty for as long as anything that is decided now can go back to. */
  has(accountId: string, what: keyof typeof plentyNanos): boolean {
    const samples = this.#samples.get(accountId) ?? []
    return samples.length > 0 && samples.every(({ freeNanos }) => freeNanos >= plentyNanos[what])
  }
}

function freeOf({ db }: Stage, gateways: readonly SimGateway[], accountId: string): bigint {
  const [row] = db.query<{ free: bigint }>(
    'SELECT balance_nanos - held_nanos - leased_nanos AS free FROM accounts WHERE id = ?',
    [accountId],
  ).rows
  const isAlone = gateways.length === 1
  const spendable = gateways.map(({ engine, cluster, ready }) => {
    if (engine === undefined || !ready || (!isAlone && cluster?.here !== true)) return 0n
    const funds = engine.ledger.funds(accountId)
    return funds.stale ? 0n : availableNanos(funds)
  })
  const inMemory = spendable.reduce((sum, each) => sum + each, 0n)
  return isAlone ? inMemory : BigInt(row?.free ?? 0n) + inMemory
}
