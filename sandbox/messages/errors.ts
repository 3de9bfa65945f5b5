// The error body of the messages protocol. It has no codes: the type and the text are all.
import { contextLength, type Fault } from '../protocol.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const tooLong = 'prompt is too long: 200001 tokens > 200000 maximum'

export function messagesError({ status, message: given, code }: Fault) {
  const message = code === contextLength ? tooLong : given
  const type = types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message } }
}
