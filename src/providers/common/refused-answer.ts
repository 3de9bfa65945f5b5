// HTTP answers that are errors: a status other than 200, or an encoding that was not requested.
import type { HttpAnswer } from '../../contract/http.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { failure, readTextError, upstreamRequestId } from './errors.ts'

const maxErrorBytes = 64 * 1024

export function isRefused(answer: HttpAnswer): boolean {
  if (answer.status !== 200) return true
  const encoding = answer.header('content-encoding')
  return encoding !== undefined && encoding !== 'identity'
}

export async function refusedAnswer(
  answer: HttpAnswer,
): Promise<{ kind: 'failed'; error: UpstreamError }> {
  if (answer.status !== 200) {
    const text = await answer.text(maxErrorBytes).catch(() => '')
    return { kind: 'failed', error: readTextError(answer, text ?? '') }
  }
  answer.cancel()
  const message = 'the upstream compressed its answer although it was asked not to'
  const error = failure('upstream_invalid_response', message, upstreamRequestId(answer))
  return { kind: 'failed', error: { ...error, begun: true, outputTokens: 0 } }
}
