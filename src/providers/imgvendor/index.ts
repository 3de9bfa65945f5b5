// Image tasks of the vendor: one create, then polls on the same path. The task's own id goes
// upstream as its external id, which this upstream accepts in place of its own: so a create that
// was cut off is found with certainty. Nothing can be cancelled.
import type { Found, LostCreate, Provider, TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { isPlainId, textOf } from '../tasks/fields.ts'
import { tasksOf } from '../tasks/provider.ts'
import type { AskPage, TaskStyle } from '../tasks/style.ts'
import { buildBody, pathFor } from './build-request.ts'
import { errorOf, isMissing, isRefusal, requestIdOf, verdict } from './errors.ts'
import { tokenFor } from './sign-token.ts'
import { readReport, taskIn } from './task-report.ts'

const createUrl = (upstream: TaskUpstream): string =>
  `${upstream.baseUrl}/v1/images/${pathFor(upstream)}`
const taskUrl = (upstream: TaskUpstream, id: string): string =>
  `${createUrl(upstream)}/${encodeURIComponent(id)}`

const style: TaskStyle<ImageRequest> = {
  protocol: 'imgvendor',
  path: '/v1/images/generations and /v1/images/omni-image',
  auth: ({ key }) => ({ authorization: `Bearer ${tokenFor(key)}` }),
  buildRequest(request, upstream) {
    const made = buildBody(request, upstream)
    return 'problem' in made ? made : { url: createUrl(upstream), body: made.words }
  },
  verdict,
  createdId: (body) => taskIn(body)['task_id'],
  taskUrl,
  isMissing,
  taskIdOf: (body) => textOf(taskIn(body)['task_id']),
  report: (body, _upstream, requestId) => readReport(body, requestId),
  requestIdOf,
  errorOf,
  isRefusal,
  find: findTask,
}

async function findTask(
  lost: LostCreate<ImageRequest>,
  upstream: TaskUpstream,
  ask: AskPage,
): Promise<Found> {
  const none = { kind: 'found', by: 'marker', upstreamIds: [] } as const
  const answer = await ask(taskUrl(upstream, upstream.marker))
  if ('error' in answer) {
    return answer.isMissing === true ? none : { kind: 'failed', error: answer.error }
  }
  const { task_id, task_info } = taskIn(answer.body)
  const id = textOf(task_id)
  const name = isObject(task_info) ? task_info['external_task_id'] : undefined
  // A task with another external id, or none, is not ours.
  if (name !== upstream.marker || !isPlainId(id)) return none
  return { ...none, upstreamIds: await lost.unclaimed([id]) }
}

export const imgvendor: Provider = {
  protocol: style.protocol,
  path: style.path,
  image: tasksOf(style),
}
