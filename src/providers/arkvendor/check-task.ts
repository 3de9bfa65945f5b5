// One question about a task. A question that fails leaves the task as it was.
import type { Checked, Stop, TaskUpstream } from '../../contract/provider.ts'
import { isGood, listen } from '../tasks/listen.ts'
import { notAnswered } from '../text/errors.ts'
import { headersFor, taskAddress } from './address.ts'
import { errorOf, requestIdOf, textOf } from './errors.ts'
import { readReport } from './task-report.ts'

export async function checkTask(
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Checked> {
  const address = taskAddress(upstream, upstreamId)
  const call = upstream.http.get(address, headersFor(upstream), upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  const { answer, body } = heard
  const upstreamRequestId = requestIdOf(heard)
  if (answer.status === 404) {
    return { kind: 'report', report: { state: 'missing' }, upstreamRequestId }
  }
  const report =
    isGood(answer.status) && body !== undefined && isOf(body, upstreamId)
      ? readReport(body, upstreamRequestId)
      : undefined
  if (report === undefined) return { kind: 'failed', error: errorOf(heard) }
  return { kind: 'report', report, upstreamRequestId }
}

/** An answer meant for somebody else would hand one caller the video of another. */
function isOf(body: Readonly<Record<string, unknown>>, upstreamId: string): boolean {
  const id = textOf(body['id'])
  return id === '' || id === upstreamId
}
