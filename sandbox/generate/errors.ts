// The error body of the generate protocol: a number, a word and a text.
import { contextLength, type Fault } from '../protocol.ts'

const byStatus: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const tooLong =
  'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).'

export function generateError({ status, message: given, reason, code }: Fault) {
  const message = code === contextLength ? tooLong : given
  const word = byStatus[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const details =
    reason === 'content_policy'
      ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'PROHIBITED_CONTENT' }]
      : undefined
  return { error: { code: status, message, status: word, ...(details && { details }) } }
}
