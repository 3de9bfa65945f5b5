// What a gateway believes it can spend is never more than the store would let it.
import { availableNanos } from '../../src/billing/balances.ts'
import type { CallersBooks } from '../callers/records.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { Stage } from '../world/context.ts'

interface Row {
  balance_nanos: bigint
  held_nanos: bigint
}

/** Only where nothing is on its way: then both speak of the same. */
export function checkMemory(stage: Stage, gateway: SimGateway, books: CallersBooks): void {
  const { engine, cluster } = gateway
  if (engine === undefined || !gateway.ready) return
  for (const { id } of books.accounts) {
    const funds = engine.ledger.funds(id)
    if (funds.stale || funds.pending > 0) continue
    const stored = cluster === undefined ? ofAccount(stage, id) : ofCreditLease(stage, id, cluster)
    if (stored === undefined) continue
    const { callHoldsNanos } = funds
    const believed = availableNanos(funds) + callHoldsNanos
    const room = stored.balance_nanos - stored.held_nanos
    if (believed > room) {
      stage.world.blame(
        `${gateway.proc.name} believes to have ${believed} of ${id}, it has ${room}`,
      )
    }
  }
}

/** Calls hold no more than there is, unless what there was has been given back by others. */
export function checkHolds(stage: Stage, gateway: SimGateway, books: CallersBooks): void {
  const { engine } = gateway
  if (engine === undefined || !gateway.ready || stage.mayBeCutOff) return
  for (const { id } of books.accounts) {
    const funds = engine.ledger.funds(id)
    if (funds.stale || availableNanos(funds) >= 0n) continue
    const { balanceNanos, callHoldsNanos } = funds
    const what = `calls hold ${callHoldsNanos} of ${balanceNanos}`
    stage.world.blame(`${gateway.proc.name} has promised more of ${id} than it has: ${what}`)
  }
}

const ofAccount = ({ db }: Stage, id: string): Row | undefined =>
  db.query<Row>('SELECT balance_nanos, held_nanos FROM accounts WHERE id = ?', [id]).rows[0]

/** Undefined while it has been given up and has not heard of it. */
function ofCreditLease(
  { db }: Stage,
  id: string,
  { gatewayId, here }: { gatewayId: string; here: boolean },
): Row | undefined {
  const known = db.query('SELECT 1 FROM gateways WHERE id = ?', [gatewayId]).rows.length > 0
  if (!known || !here) return undefined
  const [creditLease] = db.query<{ amount_nanos: bigint }>(
    'SELECT amount_nanos FROM credit_leases WHERE account_id = ? AND gateway_id = ?',
    [id, gatewayId],
  ).rows
  return { balance_nanos: creditLease?.amount_nanos ?? 0n, held_nanos: 0n }
}
