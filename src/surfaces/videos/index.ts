// Videos: create, get, list, download, cancel and delete. Reads use the gateway's own row; no upstream is
// called while a caller waits for one.

import type { CallerApi } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, type VideoTask } from '../../contract/task.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asVideo, serveCreate } from '../media/create.ts'
import { serveVideo } from './content.ts'
import { videoLists, videosKeys } from './keys.ts'
import { isVideoId, pageBody, pageIn } from './page.ts'
import { parseVideo } from './parse.ts'
import { pollHeaders, viewOf } from './view.ts'

const path = '/v1/videos'

export const videos: Surface = {
  name: 'videos',
  interface: { kind: 'video', own: false, clientWords: ['openai-video'] },
  prefixes: [path],
  browsers: true,
  loggedAs: 'videos',
  operations: async () => (await import('./operations.ts')).videosOperations,
  mount(app, deps) {
    const { api } = deps
    app.post(path, ({ env: { context: x } }) => asCaller(api, x, (token) => create(deps, x, token)))
    app.get(path, ({ env: { context: x } }) => asCaller(api, x, (token) => list(api, x, token)))
    app.get(`${path}/:id`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), (task) => answerTask(api, x, task)),
    )
    // The router calls this for HEAD too.
    app.get(`${path}/:id/content`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), (task) => serveVideo(api, x, task)),
    )
    app.post(`${path}/:id/cancel`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), (task, token) => cancel(api, x, task, token)),
    )
    app.delete(`${path}/:id`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), (task, token) => remove(api, x, task, token)),
    )
  },
}

/** A video of another account gets the same answer as one that does not exist. */
const withTask = (
  api: CallerApi,
  x: RequestContext,
  id: string,
  work: (task: VideoTask, token: Token) => Outcome | Promise<Outcome>,
): Promise<Response> =>
  asCaller(api, x, async (token) => {
    const task = isVideoId(id) ? await api.findTask(token, id, 'video') : undefined
    return task === undefined ? videoNotFound(id) : work(task, token)
  })

const videoNotFound = (id: string): Refusal =>
  refuse('video_not_found', `there is no video '${id.slice(0, 80)}'`)

const answerTask = (api: CallerApi, x: RequestContext, task: VideoTask): Response =>
  answerJson(x, JSON.stringify(viewOf(task, api.linkTo)), 200, pollHeaders(task))

const create = (deps: SurfaceDeps, x: RequestContext, token: Token): Promise<Outcome> =>
  serveCreate<VideoTask>(deps, x, token, {
    interface: 'videos',
    path,
    forms: { lists: videoLists },
    keys: videosKeys,
    parse: async (fields, isForm, account) => {
      const servedAs = (name: string) => firstMember(deps.api, token, name)
      return asVideo(await parseVideo(fields, { isForm, account, servedAs }))
    },
    answer: (task) => answerTask(deps.api, x, task),
  })

/** The best member of a virtual model says what a request may be. */
const firstMember = ({ models }: CallerApi, token: Token, name: string): string =>
  models.visible(token, name)?.backing?.members[0]?.model.name ?? name

async function list(api: CallerApi, x: RequestContext, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  if (page.after !== undefined && !(await api.isOwnVideo(token, page.after))) {
    return refuse('video_not_found', `there is no video '${page.after}'`, { param: 'after' })
  }
  const tasks = await api.listVideos(token, { ...page, limit: page.limit + 1 })
  return answerJson(x, JSON.stringify(pageBody(tasks, page, api.linkTo)))
}

/** A running one is cancelled and stays listed; an ended one is hidden. */
async function remove(
  api: CallerApi,
  x: RequestContext,
  task: VideoTask,
  token: Token,
): Promise<Outcome> {
  const { id } = task
  if (!isEnd(task.state)) return cancel(api, x, task, token)
  const hidden = await api.hideTask(token, id)
  return hidden instanceof Refusal
    ? ownWords(hidden, id)
    : answerJson(x, JSON.stringify({ id, object: 'video.deleted', deleted: true }))
}

async function cancel(
  api: CallerApi,
  x: RequestContext,
  { id }: VideoTask,
  token: Token,
): Promise<Outcome> {
  x.connection.keepOpen()
  const cancelled = await api.cancelVideo(token, id)
  return cancelled instanceof Refusal ? ownWords(cancelled, id) : answerTask(api, x, cancelled)
}

/** Tasks are videos here. */
const ownWords = (refusal: Refusal, id: string): Refusal =>
  refusal.code === 'task_not_found' ? videoNotFound(id) : refusal
