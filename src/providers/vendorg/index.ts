// Long-running video operations: one create, then polls by the operation's name. This upstream has
// no list to search and no cancel.
import { textOf } from '../tasks/fields.ts'
import { taskProvider } from '../tasks/provider.ts'
import type { TaskStyle } from '../tasks/style.ts'
import { buildBody } from './build-request.ts'
import { errorOf, requestIdOf } from './errors.ts'
import { readOperation } from './operation.ts'

/** A name that is a plain path below the version and cannot lead elsewhere. */
const isOperationName = (name: string): boolean =>
  name.length <= 300 &&
  /^(?:[\w~@:.-]+\/){0,8}operations\/[\w~@:.-]+$/.test(name) &&
  !name.split('/').some((part) => /^\.+$/.test(part))

const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

const style: TaskStyle = {
  protocol: 'vendorg',
  path: '/v1beta/models/{model}:predictLongRunning',
  auth: ({ key }) => ({ 'x-goog-api-key': key }),
  filesNeedKey: true,
  async buildRequest(request, { baseUrl, model, fetchMedia }) {
    const body = await buildBody(request, fetchMedia)
    if ('problem' in body) return body
    const url = `${baseUrl}/v1beta/models/${encodeURIComponent(model)}:predictLongRunning`
    return { url, body }
  },
  createdId: ({ name }) => name,
  isTaskId: isOperationName,
  taskUrl: ({ baseUrl }, name) => `${baseUrl}/v1beta/${name}`,
  taskIdOf: ({ name }) => textOf(name),
  // Some upstreams report the name with its model, some without.
  isSame: (named, name) => lastPart(named) === lastPart(name),
  report: (body, _upstream, requestId) => readOperation(body, requestId),
  requestIdOf,
  errorOf,
  isRefusal: ({ error }, status) => status >= 300 && error != null,
}

export const vendorg = taskProvider(style)
