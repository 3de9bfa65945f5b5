// The one create of an operation. What matters most is to tell a refusal, after which it may be
// asked for elsewhere, from silence, after which the operation may exist.
import type { Started, Stop, TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json.ts'
import { type Heard, isGood, listen } from '../tasks/listen.ts'
import { failure, notAnswered } from '../text/errors.ts'
import { headersFor, isOperationName } from './address.ts'
import { errorOf, requestIdOf, textOf } from './errors.ts'
import { bodyFor } from './hand-over.ts'

/** Failures that come before the first byte of a request is out. */
const unsent: readonly unknown[] = ['unreachable', 'tls', 'timeout']
/** Said by whoever stands in front of the work, before any is done; no error has to be with it. */
const refusals: ReadonlySet<number> = new Set([
  ...[301, 302, 307, 308],
  ...[401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 417, 421, 426, 429, 431],
])
/** Time-outs on the way, which say nothing about the work. */
const lapses: ReadonlySet<number> = new Set([408, 499])

export async function startOperation(
  request: VideoRequest,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Started> {
  const body = bodyFor(request)
  if ('problem' in body) {
    return { kind: 'refused', error: failure('upstream_invalid_request', body.problem) }
  }
  const { baseUrl, model, http, timeouts } = upstream
  const address = `${baseUrl}/v1beta/models/${encodeURIComponent(model)}:predictLongRunning`
  const headers = { ...headersFor(upstream), 'content-type': 'application/json' }
  const call = http.post(address, headers, JSON.stringify(body), timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return unanswered(heard.cause)
  if (isGood(heard.answer.status)) return accepted(heard)
  const error = errorOf(heard)
  return isRefusal(heard) ? { kind: 'refused', error } : { kind: 'unknown', error }
}

function unanswered(cause: unknown): Started {
  const kind = (cause as { kind?: unknown } | undefined)?.kind
  if (unsent.includes(kind)) return { kind: 'refused', error: notAnswered(cause) }
  if (kind !== 'cancelled') return { kind: 'unknown', error: notAnswered(cause) }
  const message = 'the upstream did not answer before it was given up'
  return { kind: 'unknown', error: failure('upstream_timeout', message, undefined, cause) }
}

function accepted(heard: Heard): Started {
  const name = textOf(heard.body?.['name'])
  if (!isOperationName(name)) return { kind: 'unknown', error: errorOf(heard) }
  return { kind: 'started', upstreamId: name, upstreamRequestId: requestIdOf(heard) }
}

function isRefusal({ answer: { status }, body }: Heard): boolean {
  if (refusals.has(status)) return true
  const explained = isObject(body?.['error'])
  return explained && status >= 400 && status < 500 && !lapses.has(status)
}
