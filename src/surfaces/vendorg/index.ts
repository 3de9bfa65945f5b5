// Long-running video operations: create, get, and download the result. Reads use the gateway's own row;
// no upstream is called while a caller waits for one.

import type { CallerApi } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { VideoTask } from '../../contract/task.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { type Fields, modelIn } from '../common/fields.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asVideo, serveCreate } from '../media/create.ts'
import { serveFile } from './download.ts'
import { keyPlaces, operationErrors } from './errors.ts'
import { operationKeys } from './keys.ts'
import { splitCall, taskIdOf } from './names.ts'
import { parseOperation } from './parse.ts'
import { operationOf, pollHeaders } from './view.ts'

const create = 'predictLongRunning'

/** Paths of SDKs that have the gateway's root as their base URL. `/v1/models` alone is another list. */
const barePath = /^\/v1(?:beta\d*|alpha)(?:\/|$)|^\/v1\/models\/[^/]+:[a-z]+[A-Z][A-Za-z]*$/

export const vendorg: Surface = {
  name: 'vendorg',
  interface: {
    kind: 'video',
    own: false,
    clientWords: ['openai-video'],
    methods: { video: [create] },
  },
  prefixes: ['/vendorg'],
  browsers: true,
  loggedAs: 'vendorg',
  keyPlaces,
  errors: operationErrors,
  operations: async () => (await import('./operations.ts')).vendorgOperations,
  aliasOf: (path) => (barePath.test(path) ? `/vendorg${path}` : undefined),
  mount(app, deps) {
    const { api } = deps
    // The router matches whole segments, so the part after the colon is read here.
    app.post('/vendorg/:version/models/:call', ({ env: { context: x }, req }) =>
      asCaller(api, x, (token) => call(deps, x, token, req.param())),
    )
    const poll = (x: RequestContext, { id, version }: { id: string; version: string }) =>
      asCaller(api, x, async (token) => {
        const task = await find(api, token, id)
        return task === undefined ? noOperation(id) : answerOperation(api, x, task, version)
      })
    app.get('/vendorg/:version/operations/:id', ({ env, req }) => poll(env.context, req.param()))
    app.get('/vendorg/:version/models/:model/operations/:id', ({ env, req }) =>
      poll(env.context, req.param()),
    )
    // The router calls this for HEAD too.
    app.get('/vendorg/:version/files/:call', ({ env: { context: x }, req }) =>
      asCaller(api, x, (token) => download(api, x, token, req.param('call'))),
    )
  },
}

/** A task of another account gets the same answer as one that does not exist. */
async function find(api: CallerApi, token: Token, id: string): Promise<VideoTask | undefined> {
  const taskId = taskIdOf(id)
  return taskId === undefined ? undefined : api.findTask(token, taskId, 'video')
}

const noOperation = (id: string): Refusal =>
  refuse('operation_not_found', `there is no operation '${id.slice(0, 80)}'`)

const answerOperation = (
  api: CallerApi,
  x: RequestContext,
  task: VideoTask,
  version: string,
): Response =>
  answerJson(x, JSON.stringify(operationOf(task, api.publicUrl, version)), 200, pollHeaders(task))

async function call(
  deps: SurfaceDeps,
  x: RequestContext,
  token: Token,
  { call: segment, version }: { call: string; version: string },
): Promise<Outcome> {
  const [model, method] = splitCall(segment)
  if (method !== create) {
    const message = `models are called here by 'models/{model}:${create}' only`
    return refuse('not_found', message)
  }
  return serveCreate<VideoTask>(deps, x, token, {
    interface: 'vendorg',
    // Without the version: a create is the same one under each.
    path: `/vendorg/models/${model}:${create}`,
    keys: operationKeys,
    pathModel: model,
    modelIn: () => model,
    parse: async (fields, _, account) => asVideo(await callOf(model, fields, account)),
    answer: (task) => answerOperation(deps.api, x, task, version),
  })
}

async function callOf(model: string, fields: Fields, account: string | undefined) {
  const name = modelIn({ model })
  if (name instanceof Refusal) return name
  const request = await parseOperation(fields, account)
  return request instanceof Refusal ? request : { model: name, request }
}

async function download(
  api: CallerApi,
  x: RequestContext,
  token: Token,
  segment: string,
): Promise<Outcome> {
  const [id, method] = splitCall(segment)
  const task = method === 'download' ? await find(api, token, id) : undefined
  return task === undefined
    ? refuse('file_not_found', `there is no file '${segment.slice(0, 80)}'`)
    : serveFile(api, x, task)
}
