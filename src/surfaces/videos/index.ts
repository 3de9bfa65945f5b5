// Videos: create, look, list, download, and cancel or put away. Every look is at the gateway's own
// row; no upstream is asked while a caller waits for one.
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, type VideoTask } from '../../contract/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { linksOf } from '../../engine/results/file-links.ts'
import { cancelVideo, hideTask } from '../../engine/tasks/cancel-task.ts'
import { findTask, isOwnVideo, listVideos } from '../../engine/tasks/read-task.ts'
import { answerJson, type Exchange } from '../../http/exchange.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asVideo, serveCreate } from '../media/create.ts'
import type { Surface, SurfaceDeps } from '../surface.ts'
import { serveVideo } from './content.ts'
import { videoLists, videosKeys } from './keys.ts'
import { isVideoId, pageBody, pageIn } from './page.ts'
import { parseVideo } from './parse.ts'
import { pollHeaders, viewOf } from './view.ts'

const path = '/v1/videos'

export const videos: Surface = {
  name: 'videos',
  prefixes: [path],
  browsers: true,
  loggedAs: 'videos',
  operations: async () => (await import('./operations.ts')).videosOperations,
  mount(app, deps) {
    const { engine } = deps
    app.post(path, ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => create(deps, x, token)),
    )
    app.get(path, ({ env: { exchange: x } }) =>
      asCaller(engine, x, (token) => list(engine, x, token)),
    )
    app.get(`${path}/:id`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task) => answerTask(engine, x, task)),
    )
    // The router asks this for HEAD too.
    app.get(`${path}/:id/content`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task) => serveVideo(engine, x, task)),
    )
    app.post(`${path}/:id/cancel`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task, token) => cancel(engine, x, task, token)),
    )
    app.delete(`${path}/:id`, ({ env: { exchange: x }, req }) =>
      withTask(engine, x, req.param('id'), (task, token) => remove(engine, x, task, token)),
    )
  },
}

/** Another's video and one that never was look the same. */
const withTask = (
  engine: Engine,
  x: Exchange,
  id: string,
  work: (task: VideoTask, token: Token) => Outcome | Promise<Outcome>,
): Promise<Response> =>
  asCaller(engine, x, async (token) => {
    const task = isVideoId(id) ? await findTask(engine, token, id, 'video') : undefined
    return task === undefined ? videoNotFound(id) : work(task, token)
  })

const videoNotFound = (id: string): Refusal =>
  refuse('video_not_found', `there is no video '${id.slice(0, 80)}'`)

const answerTask = (engine: Engine, x: Exchange, task: VideoTask): Response =>
  answerJson(x, JSON.stringify(viewOf(task, linksOf(engine))), 200, pollHeaders(task))

const create = (deps: SurfaceDeps, x: Exchange, token: Token): Promise<Outcome> =>
  serveCreate<VideoTask>(deps, x, token, {
    interface: 'videos',
    path,
    forms: { lists: videoLists },
    keys: videosKeys,
    parse: (fields, isForm) => asVideo(parseVideo(fields, isForm)),
    answer: (task) => answerTask(deps.engine, x, task),
  })

async function list(engine: Engine, x: Exchange, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  if (page.after !== undefined && !(await isOwnVideo(engine, token, page.after))) {
    return refuse('video_not_found', `there is no video '${page.after}'`, { param: 'after' })
  }
  const tasks = await listVideos(engine, token, { ...page, limit: page.limit + 1 })
  return answerJson(x, JSON.stringify(pageBody(tasks, page, linksOf(engine))))
}

/** A live one is cancelled and stays in sight; one that is over goes out of sight. */
async function remove(
  engine: Engine,
  x: Exchange,
  task: VideoTask,
  token: Token,
): Promise<Outcome> {
  const { id } = task
  if (!isEnd(task.state)) return cancel(engine, x, task, token)
  const hidden = await hideTask(engine, token, id)
  return hidden instanceof Refusal
    ? ownWords(hidden, id)
    : answerJson(x, JSON.stringify({ id, object: 'video.deleted', deleted: true }))
}

async function cancel(
  engine: Engine,
  x: Exchange,
  { id }: VideoTask,
  token: Token,
): Promise<Outcome> {
  x.connection.keepOpen()
  const cancelled = await cancelVideo(engine, token, id)
  return cancelled instanceof Refusal ? ownWords(cancelled, id) : answerTask(engine, x, cancelled)
}

/** A task is a video here. */
const ownWords = (refusal: Refusal, id: string): Refusal =>
  refusal.code === 'task_not_found' ? videoNotFound(id) : refusal
