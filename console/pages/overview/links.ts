// From figures to the rows behind them, over the same time.
import type { Period } from '../../lib/resources/usage.ts'

/** The page of requests. */
export const requestsAt = ({ from, to }: Period, more = ''): string =>
  `/requests?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${more}`
