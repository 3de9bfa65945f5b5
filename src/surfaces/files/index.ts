// Finished files by their signed links. No token is needed: the link grants access.

import type { CallerApi } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { answer } from '../../http/render-error.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Surface } from '../common/surface.ts'
import { serveContent } from '../media/serve-content.ts'

export const files: Surface = {
  name: 'files',
  prefixes: ['/files'],
  // A link works wherever it is shown.
  browsers: true,
  operations: async () => (await import('./operations.ts')).filesOperations,
  mount(app, { api }) {
    // The router calls this for HEAD too.
    app.get('/files/:id/:part', async ({ env: { context: x }, req }) =>
      answer(x, await serve(api, x, req.param('id'), req.param('part'))),
    )
  },
}

async function serve(
  api: CallerApi,
  x: RequestContext,
  taskId: string,
  part: string,
): Promise<Response | Refusal> {
  const query = new URL(x.request.url, 'http://gateway').searchParams
  const [until, sig] = [query.get('until') ?? '', query.get('sig') ?? '']
  if (!/^(?:0|[1-9]\d{0,3})$/.test(part) || !/^\d{1,12}$/.test(until)) {
    return refuse('file_not_found', 'there is no such file')
  }
  const link = { taskId, part: Number(part), until: Number(until), sig }
  const task = await api.followLink(link)
  if (task instanceof Refusal) return task
  return serveContent(api, x, task, fileName(task.id, link.part), link.part)
}

const fileName = (id: string, part: number): string => (part === 0 ? id : `${id}-${part}`)
