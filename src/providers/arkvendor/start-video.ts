// The one create of a task. A refusal is told from silence: after that the task may exist.
import type { Started, Stop, TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json.ts'
import { type Heard, isGood, listen } from '../tasks/listen.ts'
import { failure, notAnswered } from '../text/errors.ts'
import { headersFor, tasksAddress } from './address.ts'
import { bodyFor, versionFor } from './body-for.ts'
import { errorOf, requestIdOf, textOf } from './errors.ts'

/** Printable, and not only dots, which would mean another place in an address. */
const taskId = /^(?!\.+$)[\x21-\x7e]{1,200}$/
/** Failures that come before the first byte of a request is out. */
const unsent: readonly unknown[] = ['unreachable', 'tls', 'timeout', 'broken']
/** Said by whoever stands in front of the work, before any is done; no error has to be with it. */
const refusals: ReadonlySet<number> = new Set([
  ...[301, 302, 307, 308],
  ...[401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 417, 421, 426, 429, 431],
])
/** Time-outs on the way, which say nothing about the work. */
const lapses: ReadonlySet<number> = new Set([408, 499])

export async function startVideo(
  request: VideoRequest,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Started> {
  const model = versionFor(upstream)
  const headers = headersFor(upstream)
  headers['content-type'] = 'application/json'
  const body = JSON.stringify(bodyFor(model, request))
  const call = upstream.http.post(tasksAddress(upstream), headers, body, upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return unanswered(heard.cause)
  if (isGood(heard.answer.status)) return accepted(heard, model)
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

function accepted(heard: Heard, upstreamModel: string): Started {
  const upstreamId = textOf(heard.body?.['id'])
  if (!taskId.test(upstreamId)) return { kind: 'unknown', error: errorOf(heard) }
  return { kind: 'started', upstreamId, upstreamRequestId: requestIdOf(heard), upstreamModel }
}

function isRefusal({ answer: { status }, body }: Heard): boolean {
  if (refusals.has(status)) return true
  return isObject(body?.['error']) && status >= 400 && status < 500 && !lapses.has(status)
}
