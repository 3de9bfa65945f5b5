// One question about a task. A question that fails leaves the task as it was.
import type { Checked, Stop, TaskUpstream } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { isGood, type Json, listen } from '../tasks/listen.ts'
import { notAnswered } from '../text/errors.ts'
import { headersFor, taskAddress } from './address.ts'
import { errorOf, requestIdOf } from './errors.ts'
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
    isGood(answer.status) && body !== undefined && !isOfAnother(body, upstreamId)
      ? readReport(body, upstream.plainModel, upstreamRequestId)
      : undefined
  if (report === undefined) return { kind: 'failed', error: errorOf(heard) }
  return { kind: 'report', report, upstreamRequestId }
}

/** An answer meant for somebody else would hand one caller the video of another. */
function isOfAnother({ output }: Json, upstreamId: string): boolean {
  const id = isObject(output) ? output['task_id'] : undefined
  return typeof id === 'string' && id !== '' && id !== upstreamId
}
