// Native video tasks: create, look, list and cancel, in the upstream's own shapes. Every look is at
// the gateway's own row, whichever interface made it.
import type { Interface, Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import { newRecord, recordUnbilled } from '../../engine/call-record.ts'
import type { Engine } from '../../engine/engine.ts'
import { cancelTask } from '../../engine/tasks/cancel-task.ts'
import { createVideo } from '../../engine/tasks/create-task.ts'
import { openContent } from '../../engine/tasks/open-content.ts'
import { findTask, searchTasks } from '../../engine/tasks/read-task.ts'
import { answerHeaders, answerJson, type Exchange } from '../../http/exchange.ts'
import { readJsonObject } from '../../http/read-json.ts'
import { answer } from '../../http/render-error.ts'
import { Caller, callerOf, type Surface, type SurfaceDeps } from '../surface.ts'
import { pageIn } from './page.ts'
import { parseNative } from './parse.ts'
import { idsOf, tasksPath as path, statusOf, viewOf } from './view.ts'

/** Where videos are made; tasks of others are none here. */
const videoInterfaces: readonly Interface[] = ['arkvendor', 'videos', 'vendorg']

export const arkvendor: Surface = {
  name: 'arkvendor',
  mount(app, deps) {
    const { engine } = deps
    app.post(path, ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => create(deps, x, token)),
    )
    app.get(path, ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => list(engine, x, token)),
    )
    app.get(`${path}/:id`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), async (task) =>
        answerJson(x, JSON.stringify(viewOf(task, engine.publicUrl))),
      ),
    )
    app.get(`${path}/:id/last_frame`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task) => serveLastFrame(engine, x, task)),
    )
    app.delete(`${path}/:id`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task, token) => cancel(engine, x, task, token)),
    )
  },
}

type Outcome = Response | Refusal

async function asCaller(
  engine: Engine,
  x: Exchange,
  work: (token: Token) => Promise<Outcome>,
): Promise<Response> {
  const token = callerOf(engine, x)
  return answer(x, token instanceof Refusal ? token : await work(token))
}

/** Another's task and one that never was look the same. */
const withTask = (
  engine: Engine,
  x: Exchange,
  id: string,
  work: (task: Task, token: Token) => Promise<Outcome>,
): Promise<Response> =>
  asCaller(engine, x, async (token) => {
    const task = await findTask(engine, token, id)
    return task !== undefined && videoInterfaces.includes(task.interface)
      ? work(task, token)
      : refuse('task_not_found', `there is no task '${id.slice(0, 80)}'`)
  })

async function create(
  { engine, limits }: SurfaceDeps,
  x: Exchange,
  token: Token,
): Promise<Outcome> {
  const ctx = new Caller(x, token, (errorBody) => `data: ${errorBody}\n\n`)
  const body = await readJsonObject(x, limits)
  const call = body instanceof Refusal ? body : parseNative(body.fields)
  if (call instanceof Refusal) {
    return recordUnbilled(engine, newRecord(ctx, 'arkvendor', ''), 'refused', call)
  }
  x.connection.keepOpen()
  const task = await createVideo(engine, ctx, { interface: 'arkvendor', ...call })
  return task instanceof Refusal ? task : answerJson(x, JSON.stringify(idsOf(task)))
}

async function list(engine: Engine, x: Exchange, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  // Whoever names a task may see it; otherwise the list is that of the native ones.
  const scope =
    page.ids === undefined ? ({ protocol: 'arkvendor' } as const) : { interfaces: videoInterfaces }
  const { tasks, total } = await searchTasks(engine, token, { ...page, ...scope })
  const items = tasks.map((task) => viewOf(task, engine.publicUrl))
  return answerJson(x, JSON.stringify({ items, total }))
}

async function cancel(engine: Engine, x: Exchange, task: Task, token: Token): Promise<Outcome> {
  x.connection.keepOpen()
  const cancelled = await cancelTask(engine, token, task.id)
  return cancelled instanceof Refusal
    ? cancelled
    : answerJson(x, JSON.stringify({ ...idsOf(cancelled), status: statusOf(cancelled) }))
}

/** The router asks this for HEAD too, and then nobody reads the body. */
async function serveLastFrame(engine: Engine, x: Exchange, task: Task): Promise<Outcome> {
  x.connection.keepOpen()
  const content = await openContent(engine, task, undefined, 'image')
  if (content instanceof Refusal) return content
  const headers = answerHeaders(x, content.contentType)
  headers['x-content-type-options'] = 'nosniff'
  if (content.lengthBytes !== undefined) headers['content-length'] = String(content.lengthBytes)
  if (x.request.method !== 'HEAD') return new Response(content.body, { headers })
  await content.body.cancel().catch(() => {})
  return new Response(null, { headers })
}
