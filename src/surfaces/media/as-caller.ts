// Runs a task route for an authenticated caller. Knows no dialect.

import type { CallerApi } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { answer } from '../../http/render-error.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { callerOf } from '../common/surface.ts'

export type Outcome = Response | Refusal

export async function asCaller(
  api: CallerApi,
  x: RequestContext,
  work: (token: Token) => Outcome | Promise<Outcome>,
): Promise<Response> {
  const token = callerOf(api, x)
  try {
    if (token instanceof Refusal) return answer(x, token)
    const outcome = await work(token)
    if (outcome instanceof Refusal && !isCreate(x)) api.refuseRead(x, token, outcome)
    return answer(x, outcome)
  } finally {
    x.releaseBody?.()
  }
}

/** Creates are logged by the engine. */
const isCreate = ({ request, path }: RequestContext): boolean =>
  request.method === 'POST' && !path.endsWith('/cancel')
