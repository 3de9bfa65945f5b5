// Counts of tokens as the admin API shows them, each part under the name of its rate.
import { partNames, partRates } from '../billing/charge-label.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { TokenCounts, TokenParts } from '../contract/usage.ts'
import type { View } from './route.ts'
import type { tokenUsage } from './schema.ts'

/** `charge`: of a call that may be charged by something else. */
export const usageView = (
  usage: TokenCounts,
  charge?: RequestRecord['charge'],
): View<typeof tokenUsage> => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cache_read_tokens: usage.cacheReadTokens,
  cache_write_tokens: usage.cacheWriteTokens,
  ...partsView(usage.parts),
  ...(charge?.unit !== undefined && { unit: charge.unit, quantity: charge.quantity ?? 0 }),
})

/** Parts with rates of their own. */
const partsView = (parts: TokenParts = {}) =>
  Object.fromEntries(
    partNames.flatMap((name) =>
      parts[name] === undefined ? [] : [[`${partRates[name]}_tokens`, parts[name]] as const],
    ),
  )
