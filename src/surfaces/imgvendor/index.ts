// Image tasks: create, get and list, in the image vendor's own shapes. Reads use the gateway's own row;
// each path shows the tasks of both.

import type { CallerApi } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { ImageTask } from '../../contract/task.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { withCallback } from '../media/callback.ts'
import { serveCreate } from '../media/create.ts'
import { imageTaskErrors } from './errors.ts'
import { isPlain } from './fields.ts'
import { imageTaskKeys } from './keys.ts'
import { meantIn, type Path } from './models.ts'
import { noticeOf } from './notice.ts'
import { pageIn } from './page.ts'
import { parseImageTask } from './parse.ts'
import { envelope, viewOf } from './view.ts'

const paths: readonly Path[] = ['generations', 'omni-image']

export const imgvendor: Surface = {
  name: 'imgvendor',
  interface: { kind: 'image', own: false, clientWords: ['image-generation'] },
  prefixes: ['/imgvendor'],
  browsers: true,
  loggedAs: 'imgvendor',
  errors: imageTaskErrors,
  operations: async () => (await import('./operations.ts')).imgvendorOperations,
  // Tasks of this surface are images.
  notice: (task, linkTo) => noticeOf(task as ImageTask, linkTo),
  mount(app, deps) {
    const { api } = deps
    for (const name of paths) {
      const path = `/imgvendor/v1/images/${name}`
      app.post(path, ({ env: { context: x } }) =>
        asCaller(api, x, (token) => create(deps, x, token, name)),
      )
      app.get(path, ({ env: { context: x } }) => asCaller(api, x, (token) => list(api, x, token)))
      app.get(`${path}/:id`, ({ env: { context: x }, req }) =>
        asCaller(api, x, (token) => show(api, x, token, req.param('id'))),
      )
    }
  },
}

async function create(
  deps: SurfaceDeps,
  x: RequestContext,
  token: Token,
  path: Path,
): Promise<Outcome> {
  const kindOf = (name: string) =>
    (deps.api.models.visible(token, name) ?? deps.api.models.find(name))?.kind
  const outcome = await serveCreate<ImageTask>(deps, x, token, {
    interface: 'imgvendor',
    path: x.path,
    modelIn: (fields) => meantIn(fields, path),
    isVisible: (name) => deps.api.models.isNamed(token, name),
    keys: imageTaskKeys,
    parse: async (fields, _, account) =>
      withCallback(deps.api, fields, await parseImageTask(fields, path, { kindOf, account })),
    answer: (task) => enveloped(x, viewOf(task, deps.api.linkTo)),
  })
  return outcome instanceof Refusal ? inOwnWords(outcome) : outcome
}

/** The API knows no dialect: the field it calls `model` has another name here. */
function inOwnWords(refusal: Refusal): Refusal {
  const { code, message, extras } = refusal
  const isAboutModel = code === 'model_not_supported' || code === 'model_not_found'
  return isAboutModel ? refuse(code, message, { ...extras, param: 'model_name' }) : refusal
}

/** A task of another account gets the same answer as one that does not exist. */
async function show(api: CallerApi, x: RequestContext, token: Token, id: string): Promise<Outcome> {
  const task = isPlain(id) ? await api.findTask(token, id, 'image') : undefined
  if (task?.interface !== 'imgvendor') {
    return refuse('task_not_found', `there is no task '${id.slice(0, 80)}'`)
  }
  return enveloped(x, viewOf(task, api.linkTo))
}

async function list(api: CallerApi, x: RequestContext, token: Token): Promise<Outcome> {
  const page = pageIn(new URL(x.request.url, 'http://gateway').searchParams)
  if (page instanceof Refusal) return page
  const tasks = await api.searchImages(token, { ...page, interfaces: ['imgvendor'] })
  const linkTo = api.linkTo
  return enveloped(
    x,
    tasks.map((task) => viewOf(task, linkTo)),
  )
}

const enveloped = (x: RequestContext, data: unknown): Response =>
  answerJson(x, JSON.stringify(envelope(x.requestId, data)))
