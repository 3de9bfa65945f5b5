// How many tokens a call would have, asked of an upstream that can tell, else estimated and marked.
import { Refusal } from '../../contract/errors.ts'
import { rateHeaders } from '../../http/rate-headers.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { SurfaceDeps } from '../common/surface.ts'
import { readCall } from '../text/serve.ts'
import { parseCount } from './parse.ts'
import { messagesShape } from './shape.ts'

const shape = { ...messagesShape, parse: parseCount }

export async function serveCount(deps: SurfaceDeps, x: RequestContext): Promise<Response> {
  const asked = await readCall(shape, deps.api, deps.limits, x).finally(() => x.releaseBody?.())
  if (asked instanceof Refusal) return answerRefusal(x, asked)
  const counted = await deps.api.countInput(asked.ctx, asked.call)
  if (counted instanceof Refusal) return answerRefusal(x, counted)
  return answerJson(x, JSON.stringify({ input_tokens: counted.inputTokens }), 200, {
    ...rateHeaders(counted.rate),
    ...(counted.estimated && { 'x-gateway-estimated': 'true' }),
  })
}
