// The error body of the arkvendor protocol, and the words a failed task gives as its reason.
import type { Fault } from '../protocol.ts'

const byReason: Readonly<Partial<Record<NonNullable<Fault['reason']>, string>>> = {
  content_policy: 'InputTextSensitiveContentDetected',
  missing_field: 'MissingParameter',
  model_not_found: 'InvalidEndpointOrModel.NotFound',
}

const byStatus: Readonly<Record<number, readonly [code: string, type: string]>> = {
  401: ['AuthenticationError', 'Unauthorized'],
  402: ['AccountOverdueError', 'Forbidden'],
  403: ['AccessDenied', 'Forbidden'],
  404: ['NotFound.Task', 'NotFound'],
  405: ['MethodNotAllowed', 'MethodNotAllowed'],
  409: ['InvalidAction.RunningTaskDeletion', 'Conflict'],
  429: ['RateLimitExceeded.EndpointRPMExceeded', 'TooManyRequests'],
}

/** The id of the call is in the text and nowhere else in the body. */
export function arkvendorError(fault: Fault, id: string) {
  const { status, reason, message, param } = fault
  const [usual, type] =
    byStatus[status] ??
    (status >= 500
      ? ['InternalServiceError', 'InternalServerError']
      : ['InvalidParameter', 'BadRequest'])
  const code = fault.code ?? (reason === undefined ? undefined : byReason[reason]) ?? usual
  const text = `${message} Request id: ${id}`
  return { error: { code, message: text, param: param ?? '', type } }
}

export function failureWords(reason: string | undefined) {
  return reason === 'content_policy'
    ? {
        code: 'OutputVideoSensitiveContentDetected',
        message: 'The output video may contain sensitive information.',
      }
    : { code: 'InternalServiceError', message: 'The model failed to make the video.' }
}
