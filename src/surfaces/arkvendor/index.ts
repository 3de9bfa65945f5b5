// Native video tasks: create, get, list and cancel, in the upstream's own shapes. Reads use the
// gateway's own row, whichever interface created the task.

import type { CallerApi, VideoCreate } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { VideoTask } from '../../contract/task.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { withCallback } from '../media/callback.ts'
import { asVideo, serveCreate } from '../media/create.ts'
import { nativeKeys } from './keys.ts'
import { pageIn } from './page.ts'
import { draftsIn, type NativeCall, parseNative, withDrafts } from './parse.ts'
import { idsOf, tasksPath as path, statusOf, viewOf } from './view.ts'

export const arkvendor: Surface = {
  name: 'arkvendor',
  interface: { kind: 'video', own: false, clientWords: ['openai-video'] },
  prefixes: ['/arkvendor'],
  browsers: true,
  loggedAs: 'arkvendor',
  operations: async () => (await import('./operations.ts')).arkvendorOperations,
  // Tasks of this surface are videos.
  notice: (task, linkTo) => viewOf(task as VideoTask, linkTo),
  mount(app, deps) {
    const { api } = deps
    app.post(path, ({ env: { context: x } }) => asCaller(api, x, (token) => create(deps, x, token)))
    app.get(path, ({ env: { context: x } }) => asCaller(api, x, (token) => list(api, x, token)))
    app.get(`${path}/:id`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), async (task) =>
        answerJson(x, JSON.stringify(viewOf(task, api.linkTo))),
      ),
    )
    app.delete(`${path}/:id`, ({ env: { context: x }, req }) =>
      withTask(api, x, req.param('id'), (task, token) => cancel(api, x, task, token)),
    )
  },
}

/** A task of another account gets the same answer as one that does not exist. */
const withTask = (
  api: CallerApi,
  x: RequestContext,
  id: string,
  work: (task: VideoTask, token: Token) => Promise<Outcome>,
): Promise<Response> =>
  asCaller(api, x, async (token) => {
    const task = await api.findTask(token, id, 'video')
    return task !== undefined
      ? work(task, token)
      : refuse('task_not_found', `there is no task '${id.slice(0, 80)}'`)
  })

const create = (deps: SurfaceDeps, x: RequestContext, token: Token): Promise<Outcome> =>
  serveCreate<VideoTask>(deps, x, token, {
    interface: 'arkvendor',
    path,
    keys: nativeKeys,
    parse: async (fields, _, account) => {
      const call = await withOwnDrafts(deps.api, token, await parseNative(fields, account))
      return asVideo(withCallback(deps.api, fields, call))
    },
    answer: (task) => answerJson(x, JSON.stringify(idsOf(task))),
  })

/**
 * Drafts lie in the operator's account upstream, where all tenants' tasks are: only those of the
 * caller's own account may be named, and the task goes where they are.
 */
async function withOwnDrafts(
  api: CallerApi,
  token: Token,
  call: NativeCall | Refusal,
): Promise<(NativeCall & Pick<VideoCreate, 'pinnedTo'>) | Refusal> {
  if (call instanceof Refusal) return call
  const ids = new Map<string, string>()
  let pinnedTo: VideoTask | undefined
  for (const id of draftsIn(call.request)) {
    const task = await api.findTask(token, id, 'video')
    const isHere = pinnedTo === undefined || isSamePlace(pinnedTo, task)
    if (task?.upstreamId === undefined || task.protocol !== 'arkvendor' || !isHere) {
      return refuse('task_not_found', `there is no task '${id.slice(0, 80)}'`, {
        param: 'draft_task',
      })
    }
    ids.set(id, task.upstreamId)
    pinnedTo = task
  }
  if (pinnedTo === undefined) return call
  return { ...call, request: withDrafts(call.request, ids), pinnedTo }
}

const isSamePlace = (one: VideoTask, other: VideoTask | undefined): boolean =>
  one.channelId === other?.channelId && one.keyFingerprint === other.keyFingerprint

async function list(api: CallerApi, x: RequestContext, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  // A task that is named is shown, whatever its interface; otherwise the list has native ones only.
  const scope = page.ids === undefined && ({ protocol: 'arkvendor' } as const)
  const { tasks, total } = await api.searchVideos(token, { ...page, ...scope })
  const items = tasks.map((task) => viewOf(task, api.linkTo))
  return answerJson(x, JSON.stringify({ items, total }))
}

async function cancel(
  api: CallerApi,
  x: RequestContext,
  task: VideoTask,
  token: Token,
): Promise<Outcome> {
  x.connection.keepOpen()
  const cancelled = await api.cancelVideo(token, task.id)
  return cancelled instanceof Refusal
    ? cancelled
    : answerJson(x, JSON.stringify({ ...idsOf(cancelled), status: statusOf(cancelled) }))
}
