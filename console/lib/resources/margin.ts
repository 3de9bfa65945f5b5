// Margins as the admin API sums them. Amounts are text; shares are for showing only.
import { decimalOf, type UsageRow } from './usage.ts'

export const marginKeys = ['account', 'model', 'channel', 'day'] as const
export type MarginKey = (typeof marginKeys)[number]

export const isMarginKey = (text: string | undefined): text is MarginKey =>
  marginKeys.some((key) => key === text)

const nanosOf = (amount: string | undefined): bigint => {
  const [, sign, whole = '0', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount ?? '0') ?? []
  const size = BigInt(whole + places.padEnd(9, '0'))
  return sign === '-' ? -size : size
}

/** The margin is the charge less this less the cost. */
export const refundedIn = ({ amount, cost, margin }: UsageRow): string =>
  decimalOf(nanosOf(amount) - nanosOf(cost) - nanosOf(margin))

export const isNegative = ({ margin }: UsageRow): boolean => nanosOf(margin) < 0n

/** Of what was charged; undefined: nothing was. */
export function shareOf({ amount, margin }: UsageRow): number | undefined {
  const charged = nanosOf(amount)
  return charged === 0n ? undefined : Number(nanosOf(margin)) / Number(charged)
}
