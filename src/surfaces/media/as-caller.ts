// A route of tasks, run for a caller that has been let in. Knows no dialect.
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { recordRefused } from '../../engine/admission/refused-requests.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { answer } from '../../http/render-error.ts'
import { callerOf } from '../surface.ts'

export type Outcome = Response | Refusal

export async function asCaller(
  engine: Engine,
  x: Exchange,
  work: (token: Token) => Outcome | Promise<Outcome>,
): Promise<Response> {
  const token = callerOf(engine, x)
  try {
    if (token instanceof Refusal) return answer(x, token)
    const outcome = await work(token)
    if (outcome instanceof Refusal && !isCreate(x)) recordRefused(engine, x, outcome, token)
    return answer(x, outcome)
  } finally {
    x.releaseBody?.()
  }
}

/** Creates have rows of their own. */
const isCreate = ({ request, path }: Exchange): boolean =>
  request.method === 'POST' && !path.endsWith('/cancel')
