// The numeric error codes of image tasks.
import type { Refusal, RefusalCode } from '../../contract/errors.ts'

const noToken = 1001
const numbers: Readonly<Partial<Record<RefusalCode, number>>> = {
  invalid_api_key: 1002,
  ip_not_allowed: 1304,
  data_policy: 1304,
  insufficient_quota: 1102,
  budget_exhausted: 1102,
  model_not_found: 1203,
  task_not_found: 1203,
  file_not_found: 1203,
  not_found: 1202,
  method_not_allowed: 1202,
  invalid_json: 1200,
  request_too_large: 1200,
  unsupported_media_type: 1200,
  content_policy_violation: 1301,
  rate_limit_exceeded: 1302,
  upstream_rate_limited: 1303,
}

const wrongField = 1201
const byStatus: Readonly<Record<number, number>> = { 503: 5001, 504: 5002 }
const broken = 5000

export function envelopeCodeOf({ code, status }: Refusal, request: Request | undefined): number {
  if (code === 'invalid_api_key' && request?.headers.has('authorization') === false) return noToken
  return numbers[code] ?? (status < 500 ? wrongField : (byStatus[status] ?? broken))
}
