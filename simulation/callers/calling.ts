// What all callers of a world share, and the check of a refusal for lack of money.
import type { SolventAccounts } from '../verify/solvent-accounts.ts'
import type { Answer, CallerRecords, Input } from './records.ts'
import type { Sender } from './send-call.ts'

/** The month that ends in worlds at the end of one. */
export const closedMonth = '2027-01'

export interface Calling extends Sender {
  records: CallerRecords
  solvent: SolventAccounts
}

/** Only an account that is short may be refused for it. */
export function checkRefused(
  { context, solvent }: Calling,
  input: Input,
  { code, requestId }: Answer & { kind: 'refused' },
): void {
  const what = input.kind === 'text' ? 'text' : 'task'
  if (code !== 'insufficient_quota' || !solvent.has(input.accountId, what)) return
  context.world.addViolation(
    `${requestId} was refused for lack of money, which ${input.accountId} has`,
  )
}
