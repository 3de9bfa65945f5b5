// What the built-in sandbox filmed, under the gateway's own address, so that a browser can open it. Its
// addresses are signed and end; nothing else of the sandbox can be reached this way.

import type { CallerApi } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { answer } from '../../http/render-error.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Surface } from '../common/surface.ts'
import { answerContent, inputOf } from '../media/serve-content.ts'

export const sandboxMedia: Surface = {
  name: 'sandbox',
  prefixes: ['/sandbox'],
  operations: async () => (await import('./operations.ts')).sandboxOperations,
  mount(app, { api }) {
    // The router asks this for HEAD too.
    app.get('/sandbox/media/:name', async ({ env: { context: x }, req }) =>
      answer(x, await serve(api, x, req.param('name'))),
    )
  },
}

async function serve(api: CallerApi, x: RequestContext, name: string): Promise<Response | Refusal> {
  if (!/^[\w-]{1,80}\.(?:mp4|png)$/.test(name)) {
    return refuse('not_found', 'the sandbox has made no such file')
  }
  const { search } = new URL(x.request.url, 'http://gateway')
  const content = await api.openSandboxMedia(`${name}${search}`, inputOf(x))
  return content instanceof Refusal ? content : answerContent(x, content, name)
}
