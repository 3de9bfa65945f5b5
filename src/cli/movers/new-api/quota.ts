// Quota, the unit that new-api counts in, as money; and its options, which are texts.
import { misuse } from '../../terminal/stop.ts'
import { amountText, type Decimal, decimalOf, over, times } from '../money.ts'
import { objectOf, type Row } from '../rows.ts'

/** Of quota for one dollar, unless an option says otherwise. */
const usualQuotaPerUnit = '500000'

/** An amount of money from an amount of quota; undefined when that is below 0 or too large. */
export type QuotaReader = (quota: number) => string | undefined

export function quotaReader(options: ReadonlyMap<string, string>, rate: Decimal): QuotaReader {
  const said = options.get('QuotaPerUnit') || usualQuotaPerUnit
  const perUnit = decimalOf(said)
  if (perUnit === undefined || perUnit.digits === 0n) {
    throw misuse(`the option QuotaPerUnit is '${said}', which is no number above 0`)
  }
  return (quota) => {
    const whole = quota < 0 ? undefined : decimalOf(quota)
    return whole === undefined ? undefined : amountText(over(times(whole, rate), perUnit))
  }
}

export const optionObject = (options: ReadonlyMap<string, string>, name: string): Row =>
  objectOf(options.get(name))
