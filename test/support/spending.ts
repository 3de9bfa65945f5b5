// Balances that serve an exact number of calls.
import { formatNanos } from '../../src/lib/text/decimal.ts'
import { nanos } from './read.ts'

/** Enough for ten calls with 1000 tokens of output, not for eleven. `refusal` is the answer to such a call
 * without money: it tells what is held for one. Nine calls cost less than they hold; the tenth needs all. */
export async function balanceForTen(refusal: Response): Promise<string> {
  const [, hold] = /may cost (\d\.\d+)/.exec(await refusal.text())!
  return formatNanos(9n * (1000n * 2000n + 20_000n) + nanos(hold!))
}
