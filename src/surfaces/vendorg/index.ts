// Long-running video operations: create one, look at it, download what it made. Every look is at
// the gateway's own row; no upstream is asked while a caller waits for one.
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { VideoTask } from '../../contract/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { findTask } from '../../engine/tasks/read-task.ts'
import { answerJson, type Exchange } from '../../http/exchange.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asVideo, serveCreate } from '../media/create.ts'
import type { Surface, SurfaceDeps } from '../surface.ts'
import { type Fields, modelIn } from '../text/fields.ts'
import { serveFile } from './download.ts'
import { keyPlaces, operationErrors } from './errors.ts'
import { operationKeys } from './keys.ts'
import { splitCall, taskIdOf } from './names.ts'
import { parseOperation } from './parse.ts'
import { operationOf, pollHeaders } from './view.ts'

const create = 'predictLongRunning'

export const vendorg: Surface = {
  name: 'vendorg',
  prefixes: ['/vendorg'],
  browsers: true,
  loggedAs: 'vendorg',
  keyPlaces,
  errors: operationErrors,
  operations: async () => (await import('./operations.ts')).vendorgOperations,
  mount(app, deps) {
    const { engine } = deps
    // The router takes a segment as a whole, so what follows the colon is looked at here.
    app.post('/vendorg/:version/models/:call', ({ env: { exchange: x }, req }) =>
      asCaller(engine, x, (token) => call(deps, x, token, req.param())),
    )
    const look = (x: Exchange, { id, version }: { id: string; version: string }) =>
      asCaller(engine, x, async (token) => {
        const task = await find(engine, token, id)
        return task === undefined ? noOperation(id) : answerOperation(engine, x, task, version)
      })
    app.get('/vendorg/:version/operations/:id', ({ env, req }) => look(env.exchange, req.param()))
    app.get('/vendorg/:version/models/:model/operations/:id', ({ env, req }) =>
      look(env.exchange, req.param()),
    )
    // The router asks this for HEAD too.
    app.get('/vendorg/:version/files/:call', ({ env: { exchange: x }, req }) =>
      asCaller(engine, x, (token) => download(engine, x, token, req.param('call'))),
    )
  },
}

/** Another's task and one that never was look the same. */
async function find(engine: Engine, token: Token, id: string): Promise<VideoTask | undefined> {
  const taskId = taskIdOf(id)
  return taskId === undefined ? undefined : findTask(engine, token, taskId, 'video')
}

const noOperation = (id: string): Refusal =>
  refuse('operation_not_found', `there is no operation '${id.slice(0, 80)}'`)

const answerOperation = (engine: Engine, x: Exchange, task: VideoTask, version: string): Response =>
  answerJson(
    x,
    JSON.stringify(operationOf(task, engine.publicUrl, version)),
    200,
    pollHeaders(task),
  )

async function call(
  deps: SurfaceDeps,
  x: Exchange,
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
    modelIn: () => model,
    parse: (fields) => asVideo(callOf(model, fields)),
    answer: (task) => answerOperation(deps.engine, x, task, version),
  })
}

function callOf(model: string, fields: Fields) {
  const name = modelIn({ model })
  if (name instanceof Refusal) return name
  const request = parseOperation(fields)
  return request instanceof Refusal ? request : { model: name, request }
}

async function download(
  engine: Engine,
  x: Exchange,
  token: Token,
  segment: string,
): Promise<Outcome> {
  const [id, method] = splitCall(segment)
  const task = method === 'download' ? await find(engine, token, id) : undefined
  return task === undefined
    ? refuse('file_not_found', `there is no file '${segment.slice(0, 80)}'`)
    : serveFile(engine, x, task)
}
