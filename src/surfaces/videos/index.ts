// Videos: create, look, list, download, and cancel or put away. Every look is at the gateway's own
// row; no upstream is asked while a caller waits for one.
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, type Task } from '../../contract/task.ts'
import { newRecord, recordUnbilled } from '../../engine/call-record.ts'
import type { Engine } from '../../engine/engine.ts'
import { cancelTask, hideTask } from '../../engine/tasks/cancel-task.ts'
import { createVideo } from '../../engine/tasks/create-task.ts'
import { findTask, listTasks } from '../../engine/tasks/read-task.ts'
import { answerJson, type Exchange } from '../../http/exchange.ts'
import { isForm, readForm } from '../../http/read-form.ts'
import { readJsonObject } from '../../http/read-json.ts'
import { answer } from '../../http/render-error.ts'
import { Caller, callerOf, type Surface, type SurfaceDeps } from '../surface.ts'
import { serveVideo } from './content.ts'
import { isVideoId, pageBody, pageIn } from './page.ts'
import { parseVideo } from './parse.ts'
import { pollHeaders, viewOf } from './view.ts'

export const videos: Surface = {
  name: 'videos',
  mount(app, deps) {
    const { engine } = deps
    app.post('/v1/videos', ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => create(deps, x, token)),
    )
    app.get('/v1/videos', ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => list(engine, x, token)),
    )
    app.get('/v1/videos/:id', ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task) => answerTask(engine, x, task)),
    )
    // The router asks this for HEAD too.
    app.get('/v1/videos/:id/content', ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task) => serveVideo(engine, x, task)),
    )
    app.delete('/v1/videos/:id', ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task, token) => remove(engine, x, task, token)),
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

/** Another's video and one that never was look the same. */
const withTask = (
  engine: Engine,
  x: Exchange,
  id: string,
  work: (task: Task, token: Token) => Outcome | Promise<Outcome>,
): Promise<Response> =>
  asCaller(engine, x, async (token) => {
    const task = isVideoId(id) ? await findTask(engine, token, id) : undefined
    return task === undefined ? videoNotFound(id) : work(task, token)
  })

const videoNotFound = (id: string): Refusal =>
  refuse('video_not_found', `there is no video '${id.slice(0, 80)}'`)

const answerTask = (engine: Engine, x: Exchange, task: Task): Response =>
  answerJson(x, JSON.stringify(viewOf(task, engine.publicUrl)), 200, pollHeaders(task))

async function create(
  { engine, limits }: SurfaceDeps,
  x: Exchange,
  token: Token,
): Promise<Outcome> {
  const ctx = new Caller(x, token, (errorBody) => `data: ${errorBody}\n\n`)
  const form = isForm(x)
  const body = await (form ? readForm(x, limits) : readJsonObject(x, limits))
  const call = body instanceof Refusal ? body : parseVideo(body.fields, form)
  if (call instanceof Refusal) {
    return recordUnbilled(engine, newRecord(ctx, 'videos', ''), 'refused', call)
  }
  x.connection.keepOpen()
  const task = await createVideo(engine, ctx, { interface: 'videos', ...call })
  return task instanceof Refusal ? task : answerTask(engine, x, task)
}

async function list(engine: Engine, x: Exchange, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  const tasks = await listTasks(engine, token, { ...page, limit: page.limit + 1 })
  return answerJson(x, JSON.stringify(pageBody(tasks, page, engine.publicUrl)))
}

/** A live one is cancelled and stays in sight; one that is over goes out of sight. */
async function remove(engine: Engine, x: Exchange, task: Task, token: Token): Promise<Outcome> {
  const { id } = task
  if (!isEnd(task.state)) {
    x.connection.keepOpen()
    const cancelled = await cancelTask(engine, token, id)
    return cancelled instanceof Refusal ? ownWords(cancelled, id) : answerTask(engine, x, cancelled)
  }
  const hidden = await hideTask(engine, token, id)
  return hidden instanceof Refusal
    ? ownWords(hidden, id)
    : answerJson(x, JSON.stringify({ id, object: 'video.deleted', deleted: true }))
}

/** A task is a video here. */
const ownWords = (refusal: Refusal, id: string): Refusal =>
  refusal.code === 'task_not_found' ? videoNotFound(id) : refusal
