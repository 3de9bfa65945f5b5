// Files of an account, and batches of calls over them.
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { answerHeaders, answerJson, type RequestContext } from '../../http/request-context.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { createBatch } from './create.ts'
import { fileQuery, listBody, pageIn } from './page.ts'
import { upload } from './upload.ts'
import { batchView, fileView } from './view.ts'

const files = '/v1/files'
const path = '/v1/batches'

export const batches: Surface = {
  name: 'batches',
  prefixes: [files, path],
  browsers: true,
  operations: async () => (await import('./operations.ts')).batchesOperations,
  mount(app, deps) {
    const { api } = deps
    const read = (x: RequestContext, work: (token: Token) => Promise<Outcome>) =>
      asCaller(api, x, work)
    mountFiles(app, deps, read)
    app.post(path, ({ env: { context: x } }) => read(x, (token) => createBatch(deps, x, token)))
    app.get(path, ({ env: { context: x } }) =>
      read(x, async (token) => {
        const page = pageIn(x, [])
        if (page instanceof Refusal) return page
        const found = await api.listBatches(token, { ...page, limit: page.limit + 1 })
        return found instanceof Refusal ? found : list(x, found, page.limit, batchView)
      }),
    )
    app.get(`${path}/:id`, ({ env: { context: x }, req }) =>
      read(x, async (token) => view(x, await api.findBatch(token, req.param('id')), batchView)),
    )
    app.post(`${path}/:id/cancel`, ({ env: { context: x }, req }) =>
      read(x, async (token) => view(x, await api.cancelBatch(token, req.param('id')), batchView)),
    )
  },
}

type Read = (x: RequestContext, work: (token: Token) => Promise<Outcome>) => Promise<Response>

function mountFiles(app: Parameters<Surface['mount']>[0], deps: SurfaceDeps, read: Read): void {
  const { api } = deps
  app.post(files, ({ env: { context: x } }) => read(x, (token) => upload(deps, x, token)))
  app.get(files, ({ env: { context: x } }) =>
    read(x, async (token) => {
      const page = pageIn(x, fileQuery)
      if (page instanceof Refusal) return page
      const found = await api.listFiles(token, { ...page, limit: page.limit + 1 })
      return found instanceof Refusal ? found : list(x, found, page.limit, fileView)
    }),
  )
  app.get(`${files}/:id`, ({ env: { context: x }, req }) =>
    read(x, async (token) => view(x, await api.findFile(token, req.param('id')), fileView)),
  )
  app.get(`${files}/:id/content`, ({ env: { context: x }, req }) =>
    read(x, async (token) => {
      const opened = await api.openFile(token, req.param('id'))
      if (opened instanceof Refusal) return opened
      const headers = answerHeaders(x, 'application/octet-stream')
      headers['content-length'] = String(opened.file.bytes)
      headers['content-disposition'] = `attachment; filename="${opened.file.id}.jsonl"`
      headers['cache-control'] = 'private, no-store'
      return new Response(opened.body, { headers })
    }),
  )
  app.delete(`${files}/:id`, ({ env: { context: x }, req }) =>
    read(x, async (token) =>
      view(x, await api.deleteFile(token, req.param('id')), ({ id }) => ({
        ...{ id, object: 'file', deleted: true },
      })),
    ),
  )
}

const view = <T>(x: RequestContext, found: T | Refusal, show: (value: T) => object): Outcome =>
  found instanceof Refusal ? found : answerJson(x, JSON.stringify(show(found)))

const list = <T extends { id: string }>(
  x: RequestContext,
  found: readonly T[],
  limit: number,
  show: (value: T) => object,
): Outcome => answerJson(x, JSON.stringify(listBody(found, limit, show)))
