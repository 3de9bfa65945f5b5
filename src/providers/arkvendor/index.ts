// Native video tasks: the caller's body goes upstream unchanged, except for the model name and the
// few fields with another meaning there.

import type { TaskUpstream } from '../../contract/provider.ts'
import { bearer } from '../common/bearer.ts'
import { textOf } from '../tasks/fields.ts'
import { taskProvider } from '../tasks/provider.ts'
import type { TaskStyle } from '../tasks/style.ts'
import { buildBody, versionFor } from './build-request.ts'
import { errorCode, errorOf, requestIdOf } from './errors.ts'
import { findTask } from './find-task.ts'
import { outlookOf } from './outlook.ts'
import { readReport } from './task-report.ts'

const tasksUrl = ({ baseUrl }: TaskUpstream): string => `${baseUrl}/contents/generations/tasks`

const style: TaskStyle = {
  protocol: 'arkvendor',
  path: '/contents/generations/tasks',
  auth: bearer,
  buildRequest(request, upstream) {
    const upstreamModel = versionFor(upstream)
    const body = buildBody(upstreamModel, request, upstream.marker)
    return { url: tasksUrl(upstream), body, upstreamModel }
  },
  createdId: ({ id }) => id,
  outlook: outlookOf,
  taskUrl: (upstream, upstreamId) => `${tasksUrl(upstream)}/${encodeURIComponent(upstreamId)}`,
  taskIdOf: ({ id }) => textOf(id),
  report: (body, { marker }, requestId) => readReport(body, marker, requestId),
  requestIdOf,
  errorOf,
  isRefusal: ({ error }) => error != null,
  // Granted only while the task is queued.
  cancel: {
    call: ({ http, timeouts }, taskUrl, headers) => http.delete(taskUrl, headers, timeouts),
    isTooLate: (reply) => /^InvalidAction/i.test(errorCode(reply)),
  },
  find: (lost, upstream, ask) => findTask(lost, upstream, tasksUrl(upstream), ask),
}

export const arkvendor = taskProvider(style)
