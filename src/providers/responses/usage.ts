// Usage of the responses style, as it is charged.
import type { Reported, UpstreamError } from '../../contract/provider.ts'
import { readUsage as read, toolCallsAmong } from '../../styles/responses/usage.ts'
import { servedBy, servedIn } from '../common/served-as.ts'
import { type Json, reportedBy, withServed } from '../text/style.ts'

export const readUsage = reportedBy(read)

/** With the calls of tools among its items, where the usage itself counts none. */
export function readResponseUsage({ usage: raw, output, service_tier: tier }: Json): Reported {
  const reported = withServed(readUsage(raw), servedBy(tier) ?? servedIn(raw))
  const { usage } = reported
  const toolCalls = Array.isArray(output) ? toolCallsAmong(output) : undefined
  if (toolCalls === undefined || usage === undefined || usage.toolCalls !== undefined) {
    return reported
  }
  return { ...reported, usage: { ...usage, toolCalls } }
}

/** What a failed response has cost, if it says so. */
export function failedWith(response: Json, error: UpstreamError): UpstreamError {
  const { usage } = readResponseUsage(response)
  return usage === undefined ? error : { ...error, usage }
}
