// The envelope of the imgvendor protocol, the integer codes of its refusals, and the words a failed
// task gives as its reason.
import type { Fault } from '../protocol.ts'

/** What each code means. */
export const codeWords: ReadonlyMap<number, string> = new Map([
  [1000, 'Authentication failed'],
  [1001, 'Authorization is empty'],
  [1002, 'Authorization is invalid'],
  [1003, 'Authorization is not yet valid'],
  [1004, 'Authorization has expired'],
  [1100, 'Account exception'],
  [1101, 'Account in arrears'],
  [1102, 'Resource pack depleted or expired'],
  [1103, 'Unauthorized access to the requested resource'],
  [1200, 'Invalid request parameters'],
  [1201, 'Invalid parameters'],
  [1202, 'Invalid request method'],
  [1203, 'The requested resource does not exist'],
  [1300, 'Trigger strategy of the platform'],
  [1301, 'Trigger the content security policy of the platform'],
  [1302, 'API request rate limit exceeded'],
  [1303, 'Parallel task over resource pack limit'],
  [1304, 'Trigger the IP allow-list policy of the platform'],
  [5000, 'Server internal error'],
  [5001, 'Server temporarily unavailable'],
  [5002, 'Server internal timeout'],
])

const byReason: Readonly<Record<NonNullable<Fault['reason']>, number>> = {
  content_policy: 1301,
  missing_field: 1200,
  unknown_path: 1202,
  model_not_found: 1203,
}

const byStatus: Readonly<Record<number, number>> = {
  401: 1000,
  402: 1101,
  403: 1103,
  404: 1203,
  405: 1202,
  429: 1302,
  503: 5001,
  504: 5002,
}

export function imgvendorError(fault: Fault, id: string) {
  const { status, reason, message, param } = fault
  const code =
    (fault.code === undefined ? undefined : Number(fault.code)) ??
    (reason === undefined ? undefined : byReason[reason]) ??
    byStatus[status] ??
    (status >= 500 ? 5000 : param === undefined ? 1200 : 1201)
  return { code, message, request_id: id }
}

/** A refusal as it comes with HTTP 200: only the code tells. */
export const refusedBody = (code: number, message: string, id: string) => ({
  code,
  message,
  request_id: id,
  data: null,
})

export const failureWords = (reason: string | undefined): string =>
  reason === 'content_policy'
    ? 'Failure to pass the risk control system'
    : 'The model failed to make the image.'
