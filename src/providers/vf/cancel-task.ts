// Asks for the end of a task. The upstream grants it only while the task waits for its turn.
import type { Stop, TaskUpstream, UpstreamError, VideoProvider } from '../../contract/provider.ts'
import { type Heard, isGood, listen } from '../tasks/listen.ts'
import { notAnswered } from '../text/errors.ts'
import { headersFor, taskAddress } from './address.ts'
import { errorOf, textOf } from './errors.ts'

type Cancelled = Awaited<ReturnType<NonNullable<VideoProvider['cancel']>>>

/** The words with which it says that the task is past the point. */
const tooLate =
  /UnsupportedOperation|\bPENDING\b|\bnot (?:be )?cancel|\b(?:running|finished|completed|succeeded)\b/i

export async function cancelTask(
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Cancelled> {
  const address = `${taskAddress(upstream, upstreamId)}/cancel`
  const call = upstream.http.post(address, headersFor(upstream), '', upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  if (isGranted(heard)) return { kind: 'cancelled' }
  const error = errorOf(heard)
  return isTooLate(heard, error)
    ? { kind: 'refused', error: { ...error, code: 'task_not_cancellable' } }
    : { kind: 'failed', error }
}

/** A page of somebody in between is no consent, even with a good status; an empty answer is. */
function isGranted({ answer, text, body, problem }: Heard): boolean {
  if (!isGood(answer.status) || problem !== undefined) return false
  return body === undefined ? text.trim() === '' : textOf(body['code']) === ''
}

function isTooLate({ answer: { status }, body }: Heard, error: UpstreamError): boolean {
  if (status === 409) return true
  if (status >= 500 || error.code === 'upstream_rate_limited') return false
  return tooLate.test(`${textOf(body?.['code'])} ${textOf(body?.['message'])}`)
}
