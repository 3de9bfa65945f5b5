// How large the input of a call is: counted by an upstream that can count, else estimated and marked.
import { Refusal } from '../../contract/errors.ts'
import { rateHeaders } from '../../http/rate-headers.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { SurfaceDeps } from '../common/surface.ts'
import { enter, readCall, type TextShape, translationHeaders } from './serve.ts'

export async function serveCount(
  shape: TextShape,
  { api, limits }: SurfaceDeps,
  x: RequestContext,
  bodyOf: (inputTokens: number) => object,
): Promise<Response> {
  const ctx = enter(shape, api, x)
  if (ctx instanceof Refusal) return answerRefusal(x, ctx)
  const call = await readCall(shape, api, limits, x, ctx).finally(() => x.releaseBody?.())
  if (call instanceof Refusal) return answerRefusal(x, call)
  const counted = await api.countInput(ctx, call)
  if (counted instanceof Refusal) return answerRefusal(x, counted)
  return answerJson(x, JSON.stringify(bodyOf(counted.inputTokens)), 200, {
    ...rateHeaders(counted.rate),
    ...translationHeaders(counted.translation),
    ...(counted.estimated && { 'x-gateway-estimated': 'true' }),
  })
}
