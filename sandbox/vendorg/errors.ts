// The error body of the vendorg protocol, and what an operation that failed gives as its reason.
import type { Fault } from '../protocol.ts'

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

export function vendorgError({ status, message, code }: Fault) {
  const word = code ?? byStatus[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  return { error: { code: status, message, status: word } }
}

/** What was made and then held back. */
export const heldBack = {
  raiMediaFilteredCount: 1,
  raiMediaFilteredReasons: [
    'The video was held back because it may go against the usage guidelines.',
  ],
}

export const failed = { code: 13, message: 'The model failed to make the video.' }
