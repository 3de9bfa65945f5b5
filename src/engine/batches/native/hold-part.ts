// The money of lines that go to the batch API of an upstream: held as a whole and durably before anything is
// sent, and released when their results are adopted, which are charged one by one.
import type { Exhausted } from '../../../billing/budgets/budget-leases.ts'
import type { Ledger } from '../../../billing/ledger.ts'
import type { Token } from '../../../contract/catalog.ts'
import { type Refusal, refuse } from '../../../contract/errors.ts'
import { type Claim, lockBatch } from '../../../store/batches/batches.ts'
import { insertPart, movePart, type NativePart } from '../../../store/batches/native-parts.ts'
import { findAccount } from '../../../store/catalog/accounts.ts'
import { Rollback } from '../../../store/index.ts'
import { budgetExhausted } from '../../admission/reserve.ts'
import type { BaseDeps } from '../../base-deps.ts'

export interface HoldDeps extends BaseDeps {
  readonly ledger: Ledger
}

/** Whose budgets it falls under. */
export interface PartPayer {
  token: Token
  tags: string | undefined
}

type Written = 'done' | 'lost' | 'insufficient' | Exhausted

/** `lost`: the batch is another gateway's. A refusal: the account, or a budget, does not cover it. */
export async function holdPart(
  deps: HoldDeps,
  claim: Claim,
  part: NativePart,
  { token, tags }: PartPayer,
): Promise<'done' | 'lost' | Refusal> {
  const { budgets } = deps.ledger
  const under = budgets.of(token, tags)
  for (let tries = 0; ; tries++) {
    const written = await write(deps, claim, part, under)
    if (written === 'done' || written === 'lost') return written
    if (written === 'insufficient') return insufficient
    if (under === undefined || !(await budgets.gather(under, tries))) {
      return budgetExhausted(written, part.holdNanos, deps.clock.nowMs())
    }
  }
}

function write(
  { ledger, store }: HoldDeps,
  claim: Claim,
  part: NativePart,
  budgets: ReturnType<Ledger['budgets']['of']>,
): Promise<Written> {
  const { id, accountId, holdNanos, createdAtMs } = part
  const hold = ledger.taskHold(id, accountId, holdNanos, createdAtMs)
  return hold.commit(() =>
    store.tx(async (tx): Promise<Written> => {
      if ((await lockBatch(tx, store.dialect, claim)) === undefined) return 'lost'
      if ((await hold.write(tx)) !== 'done') return 'insufficient'
      const lacking = budgets && (await ledger.budgets.lackingFor(tx, budgets, holdNanos))
      if (lacking !== undefined) throw new Rollback<Written>(lacking)
      await insertPart(tx, part)
      return 'done'
    }, accountId),
  )
}

const insufficient = refuse(
  'insufficient_quota',
  "the account's available balance is too low for this line beside those before it",
)

/** Ends the hold and moves the part, together; false: the batch is another gateway's. */
export async function releasePart(
  { ledger, store, clock }: HoldDeps,
  claim: Claim,
  part: NativePart,
): Promise<boolean> {
  const atMs = clock.nowMs()
  const step = ledger.taskEnd(part.accountId, { taskId: part.id, atMs })
  return step.commit(() =>
    store.tx(async (tx) => {
      if ((await lockBatch(tx, store.dialect, claim)) === undefined) return false
      // One that had ended is only moved.
      const booked = await step.write(tx)
      await movePart(tx, part, booked === undefined ? undefined : atMs)
      return true
    }, part.accountId),
  )
}

/** What the account can spend now, as far as it is known. */
export async function spendableNanos(
  { ledger, store }: HoldDeps,
  accountId: string,
): Promise<bigint> {
  const account = await findAccount(store.read, accountId)
  if (account === undefined) return 0n
  const [spendable] = await ledger.spendable([account])
  return spendable!.availableNanos
}
