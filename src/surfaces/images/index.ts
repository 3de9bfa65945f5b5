// Images for callers that wait: generated from a prompt, or edited from images they send. The answer has
// addresses of the gateway, or bytes.

import type { CallerApi, MadeImages } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { TokenCounts } from '../../contract/usage.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { stringifyLong } from '../../lib/json/json-thread.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asReplay, type ReadRoute, readCreate, withServed } from '../media/create.ts'
import { imageLists, imagesKeys } from './keys.ts'
import { type ImageCall, parseEdit, parseGeneration } from './parse.ts'

const routes: readonly ReadRoute<ImageCall>[] = [
  { interface: 'images', path: '/v1/images/generations', keys: imagesKeys, parse: parseGeneration },
  {
    interface: 'images',
    path: '/v1/images/edits',
    forms: { lists: imageLists },
    keys: imagesKeys,
    parse: parseEdit,
  },
]

export const images: Surface = {
  name: 'images',
  interface: { kind: 'image', own: false, clientWords: ['image-generation', 'image-edit'] },
  prefixes: ['/v1/images'],
  browsers: true,
  loggedAs: 'images',
  operations: async () => (await import('./operations.ts')).imagesOperations,
  mount(app, deps) {
    for (const route of routes) {
      app.post(route.path, ({ env: { context: x } }) =>
        asCaller(deps.api, x, (token) => make(deps, x, token, route)),
      )
    }
  },
}

async function make(
  deps: SurfaceDeps,
  x: RequestContext,
  token: Token,
  route: ReadRoute<ImageCall>,
): Promise<Outcome> {
  const read = await readCreate(deps, x, token, route)
  if (read instanceof Refusal) return read
  const made = await deps.api.makeImages(read.ctx, read.create)
  if (made instanceof Refusal) return made
  const body = await stringifyLong(viewOf(deps.api, made), x.payer)
  if (made.replayed) return asReplay(withServed(answerJson(x, body), made.task))
  const charge = formatNanos(made.task.chargeNanos)
  const headers = { 'x-gateway-charge': charge, 'x-gateway-currency': deps.api.currency }
  return withServed(answerJson(x, body, 200, headers), made.task)
}

/** As this style tells it: what is not of images is text. */
function usageView({ inputTokens, outputTokens, cacheReadTokens, parts = {} }: TokenCounts) {
  const { inputImageTokens = 0, outputImageTokens = 0 } = parts
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      text_tokens: inputTokens - inputImageTokens,
      image_tokens: inputImageTokens,
      cached_tokens: cacheReadTokens,
    },
    output_tokens: outputTokens,
    output_tokens_details: {
      text_tokens: outputTokens - outputImageTokens,
      image_tokens: outputImageTokens,
    },
    total_tokens: inputTokens + outputTokens,
  }
}

function viewOf(api: CallerApi, { task, images }: MadeImages) {
  const linkTo = api.linkTo
  const data = images.map(({ part, base64, inlineUrl, revisedPrompt }) => ({
    ...(base64 === undefined ? { url: inlineUrl ?? linkTo(task, part) } : { b64_json: base64 }),
    ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
  }))
  const { tokens } = task.usage ?? {}
  return {
    created: Math.floor((task.finishedAtMs ?? task.updatedAtMs) / 1_000),
    data,
    ...(tokens !== undefined && { usage: usageView(tokens) }),
  }
}
