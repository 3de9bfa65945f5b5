// The error object that chat, responses and embeddings share.
import type { Fault } from '../protocol.ts'

interface Row {
  type: string
  code: string | null
}

const byReason: Record<NonNullable<Fault['reason']>, Row> = {
  content_policy: { type: 'data_inspection_failed', code: 'data_inspection_failed' },
  missing_field: { type: 'invalid_request_error', code: 'missing_required_parameter' },
  unknown_path: { type: 'invalid_request_error', code: null },
  model_not_found: { type: 'invalid_request_error', code: 'model_not_found' },
}

const byStatus: Record<number, Row> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  403: { type: 'permission_error', code: 'access_denied' },
  404: { type: 'invalid_request_error', code: 'not_found' },
  405: { type: 'invalid_request_error', code: 'method_not_allowed' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  503: { type: 'server_error', code: 'overloaded' },
}

interface ErrorObject extends Row {
  message: string
  param: string | null
}

export const errorBody = (fault: Fault): unknown => ({ error: errorObject(fault) })

export function errorObject(fault: Fault): ErrorObject {
  const row =
    (fault.reason === undefined ? undefined : byReason[fault.reason]) ??
    byStatus[fault.status] ??
    (fault.status >= 500
      ? { type: 'server_error', code: 'internal_error' }
      : { type: 'invalid_request_error', code: 'invalid_request' })
  const code = fault.code ?? row.code
  return { message: fault.message, type: row.type, code, param: fault.param ?? null }
}
