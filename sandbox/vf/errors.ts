// The error body of the vf protocol, and the words a failed task gives as its reason.
import type { Fault } from '../protocol.ts'

const byReason: Readonly<Partial<Record<NonNullable<Fault['reason']>, string>>> = {
  content_policy: 'DataInspectionFailed',
  model_not_found: 'ModelNotFound',
}

const byStatus: Readonly<Record<number, string>> = {
  401: 'InvalidApiKey',
  402: 'Arrearage',
  403: 'AccessDenied',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeOut',
  429: 'Throttling.RateQuota',
  503: 'ModelUnavailable',
  504: 'InternalError.Timeout',
}

export function vfError(fault: Fault, id: string) {
  const { status, reason, message } = fault
  const code =
    fault.code ??
    (reason === undefined ? undefined : byReason[reason]) ??
    byStatus[status] ??
    (status >= 500 ? 'InternalError' : 'InvalidParameter')
  return { code, message, request_id: id }
}

export function failureWords(reason: string | undefined, thing: 'video' | 'image') {
  return reason === 'content_policy'
    ? { code: 'DataInspectionFailed', message: 'Output data may contain inappropriate content.' }
    : { code: 'InternalError.Algo', message: `The model failed to make the ${thing}.` }
}

/** Of one image among several. */
export const imageFailure = failureWords(undefined, 'image')
