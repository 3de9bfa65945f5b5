// What video and image tasks share: the poll URL, the cancel, and the refusals of this upstream.

import type { TaskUpstream } from '../../contract/provider.ts'
import { bearer } from '../common/bearer.ts'
import { textOf } from '../tasks/fields.ts'
import type { TaskStyle } from '../tasks/style.ts'
import { errorOf, requestIdOf } from './errors.ts'
import { idIn, type Urls } from './find-task.ts'

const tasksUrl = ({ baseUrl }: TaskUpstream): string => `${baseUrl}/api/v1/tasks`
const taskUrl = (upstream: TaskUpstream, upstreamId: string): string =>
  `${tasksUrl(upstream)}/${encodeURIComponent(upstreamId)}`

export const urlsFor = (upstream: TaskUpstream): Urls => ({
  list: tasksUrl(upstream),
  one: (id) => taskUrl(upstream, id),
})

/** Asynchronous work, polled by its task. */
export const later = { 'x-dashscope-async': 'enable' } as const

/** The message for a task that can no longer be cancelled. */
const tooLate =
  /UnsupportedOperation|\bPENDING\b|\bnot (?:be )?cancel|\b(?:running|finished|completed|succeeded)\b/i

export const sharedStyle: Omit<TaskStyle<never>, 'buildRequest' | 'report' | 'find'> = {
  protocol: 'vf',
  path: '/api/v1/services/aigc/… and /api/v1/tasks/{id}',
  auth: bearer,
  createdId: idIn,
  taskUrl,
  taskIdOf: (body) => textOf(idIn(body)),
  requestIdOf,
  errorOf,
  isRefusal: ({ code, message, error }, status) =>
    status < 300 ? textOf(code) !== '' : (code ?? message ?? error) != null,
  // Granted only while the task is queued.
  cancel: {
    call: ({ http, timeouts }, url, headers) => http.post(`${url}/cancel`, headers, '', timeouts),
    isTooLate({ answer: { status }, body }, error) {
      if (status >= 500 || error.code === 'upstream_rate_limited') return false
      return tooLate.test(`${textOf(body?.['code'])} ${textOf(body?.['message'])}`)
    },
  },
}
