// One question about an operation. A question that fails leaves the task as it was.
import type { Checked, Stop, TaskUpstream } from '../../contract/provider.ts'
import { isGood, type Json, listen } from '../tasks/listen.ts'
import { failure, notAnswered } from '../text/errors.ts'
import { headersFor, isOperationName } from './address.ts'
import { errorOf, requestIdOf, textOf } from './errors.ts'
import { readOperation } from './operation.ts'

export async function checkOperation(
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Checked> {
  if (!isOperationName(upstreamId)) {
    const message = 'the operation has a name that cannot be asked for'
    return { kind: 'failed', error: failure('upstream_invalid_response', message) }
  }
  const address = `${upstream.baseUrl}/v1beta/${upstreamId}`
  const call = upstream.http.get(address, headersFor(upstream), upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  const { answer, body } = heard
  const upstreamRequestId = requestIdOf(heard)
  if (answer.status === 404) {
    return { kind: 'report', report: { state: 'missing' }, upstreamRequestId }
  }
  const report =
    isGood(answer.status) && body !== undefined && !isOfAnother(body, upstreamId)
      ? readOperation(body, upstreamRequestId)
      : undefined
  if (report === undefined) return { kind: 'failed', error: errorOf(heard) }
  return { kind: 'report', report, upstreamRequestId }
}

/** An answer meant for somebody else would hand one caller the video of another. */
const isOfAnother = ({ name }: Json, upstreamId: string): boolean =>
  textOf(name) !== '' && lastPart(textOf(name)) !== lastPart(upstreamId)

/** Some upstreams tell the name with its model, and some without. */
const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
