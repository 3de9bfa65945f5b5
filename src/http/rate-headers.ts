// The usage of a token against its limits, as the headers that SDKs read.
import type { RateGauge, RateView } from '../contract/rate.ts'
import type { AnswerHeaders } from './request-context.ts'

export function rateHeaders(rate: RateView | undefined): AnswerHeaders | undefined {
  if (rate === undefined) return undefined
  const headers: AnswerHeaders = {}
  if (rate.requests !== undefined) put(headers, 'requests', rate.requests)
  if (rate.tokens !== undefined) put(headers, 'tokens', rate.tokens)
  return headers
}

function put(headers: AnswerHeaders, what: string, gauge: RateGauge): void {
  headers[`x-ratelimit-limit-${what}`] = String(gauge.limit)
  headers[`x-ratelimit-remaining-${what}`] = String(gauge.remaining)
  headers[`x-ratelimit-reset-${what}`] = `${Math.ceil(gauge.resetMs) / 1000}s`
}
