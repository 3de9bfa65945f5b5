// A gateway never believes that it can spend more than the store would allow.
import { availableNanos } from '../../src/billing/balances.ts'
import type { CallerRecords } from '../callers/records.ts'
import type { SimGateway } from '../gateway/gateway.ts'
import type { SimContext } from '../world/context.ts'

interface Row {
  balance_nanos: bigint
  held_nanos: bigint
}

/** Only while no write is in flight: then both must agree. */
export function checkMemory(
  context: SimContext,
  gateway: SimGateway,
  records: CallerRecords,
): void {
  const { engine, cluster } = gateway
  if (engine === undefined || !gateway.ready) return
  for (const { id } of records.accounts) {
    const funds = engine.ledger.funds(id)
    if (funds.stale || funds.pending > 0) continue
    const stored =
      cluster === undefined ? ofAccount(context, gateway, id) : ofCreditLease(context, id, cluster)
    if (stored === undefined) continue
    const { callHoldsNanos } = funds
    const believed = availableNanos(funds) + callHoldsNanos
    const room = stored.balance_nanos - stored.held_nanos
    if (believed > room) {
      context.world.addViolation(
        `${gateway.proc.name} believes to have ${believed} of ${id}, it has ${room}`,
      )
    }
  }
}

/** Calls hold no more than there is, unless another gateway has returned it. */
export function checkHolds(context: SimContext, gateway: SimGateway, records: CallerRecords): void {
  const { engine } = gateway
  if (engine === undefined || !gateway.ready || context.mayBeCutOff) return
  for (const { id } of records.accounts) {
    const funds = engine.ledger.funds(id)
    if (funds.stale || availableNanos(funds) >= 0n) continue
    const { balanceNanos, callHoldsNanos } = funds
    const what = `calls hold ${callHoldsNanos} of ${balanceNanos}`
    context.world.addViolation(
      `${gateway.proc.name} has promised more of ${id} than it has: ${what}`,
    )
  }
}

/** With the records that are in the journal only. */
function ofAccount({ db }: SimContext, { disk }: SimGateway, id: string): Row | undefined {
  const query = 'SELECT balance_nanos, held_nanos FROM accounts WHERE id = ?'
  const [row] = db.query<Row>(query, [id]).rows
  return row && { ...row, balance_nanos: row.balance_nanos + disk.owedNanos(db, id) }
}

/** Undefined while it is evicted and does not know. */
function ofCreditLease(
  { db }: SimContext,
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
