// Video tasks of the vfa and vfb families: one create, then questions about the task.
import type { TaskUpstream } from '../../contract/provider.ts'
import { isObject } from '../../lib/json.ts'
import { textOf } from '../tasks/fields.ts'
import type { Json } from '../tasks/listen.ts'
import { taskProvider } from '../tasks/provider.ts'
import type { TaskStyle } from '../tasks/style.ts'
import { bearer } from '../text/style.ts'
import { errorOf, requestIdOf } from './errors.ts'
import { findTask } from './find-task.ts'
import { inputFor, parametersFor } from './hand-over.ts'
import { readReport } from './task-report.ts'

const createPath = '/api/v1/services/aigc/video-generation/video-synthesis'

const tasksUrl = ({ baseUrl }: TaskUpstream): string => `${baseUrl}/api/v1/tasks`
const taskUrl = (upstream: TaskUpstream, upstreamId: string): string =>
  `${tasksUrl(upstream)}/${encodeURIComponent(upstreamId)}`

/** The words with which it says that the task is past the point of being cancelled. */
const tooLate =
  /UnsupportedOperation|\bPENDING\b|\bnot (?:be )?cancel|\b(?:running|finished|completed|succeeded)\b/i

const idIn = ({ output }: Json): unknown => (isObject(output) ? output['task_id'] : undefined)

const style: TaskStyle = {
  protocol: 'vf',
  auth: bearer,
  order(request, { plainModel, model, baseUrl }) {
    const input = inputFor(plainModel, request)
    if ('problem' in input) return input
    return {
      url: baseUrl + createPath,
      headers: { 'x-dashscope-async': 'enable' },
      body: { model, input, parameters: parametersFor(plainModel, request) },
    }
  },
  createdId: idIn,
  taskUrl,
  accountOf: (body) => textOf(idIn(body)),
  report: (body, { plainModel }, requestId) => readReport(body, plainModel, requestId),
  requestIdOf,
  errorOf,
  isRefusal: ({ code, message, error }, status) =>
    status < 300 ? textOf(code) !== '' : (code ?? message ?? error) != null,
  // Granted only while the task waits for its turn.
  cancel: {
    call: ({ http, timeouts }, url, headers) => http.post(`${url}/cancel`, headers, '', timeouts),
    isTooLate({ answer: { status }, body }, error) {
      if (status >= 500 || error.code === 'upstream_rate_limited') return false
      return tooLate.test(`${textOf(body?.['code'])} ${textOf(body?.['message'])}`)
    },
  },
  find: (lost, upstream, ask) =>
    findTask(lost, upstream, { list: tasksUrl(upstream), one: (id) => taskUrl(upstream, id) }, ask),
}

export const vf = taskProvider(style)
