// Permission and money before any upstream work: is the model visible, served and priced, and can
// the account pay for the most this call may cost?
import { chargeTokens } from '../billing/charge.ts'
import type { Hold } from '../billing/ledger.ts'
import type { Route } from '../catalog/snapshot.ts'
import type { Model } from '../contract/catalog.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Price } from '../contract/price.ts'
import type { TextCall } from '../contract/requests.ts'
import type { CallContext, Engine } from './engine.ts'
import { pickRoute } from './pick-route.ts'

export interface Admission {
  route: Route
  key: string
  price: Price
  hold: Hold
}

/** A call that sets no output bound is still let in if it can pay for this many tokens. */
const leastOutputTokens = 16

export function admitText(engine: Engine, ctx: CallContext, call: TextCall): Admission | Refusal {
  const model = engine.catalog.visible(ctx.token, call.model)
  if (model === undefined) return modelNotFound(call.model)
  if (!model.interfaces.includes(call.interface)) {
    return refuse(
      'model_not_supported',
      `model '${call.model}' cannot be used here; it is served by: ${model.interfaces.join(', ')}`,
      { param: 'model' },
    )
  }
  if (engine.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  const accountId = ctx.token.accountId
  if (!engine.store.healthy || !engine.ledger.usable(accountId)) {
    return refuse('overloaded', 'the gateway cannot record charges at the moment', {
      retryAfterSeconds: 2,
    })
  }
  const price = engine.prices.current(model.name)
  if (price === undefined) return modelNotFound(call.model)
  const picked = pickRoute(engine, engine.catalog.routes(model, call.interface))
  if (picked instanceof Refusal) return picked
  const hold = holdFor(engine, accountId, call, model, price)
  if (hold === undefined) return insufficient(call)
  return { ...picked, price, hold }
}

function holdFor(
  engine: Engine,
  accountId: string,
  call: TextCall,
  model: Model,
  price: Price,
): Hold | undefined {
  const cost = (outputTokens: number) =>
    chargeTokens(price.terms, {
      inputTokens: call.inputTokens,
      outputTokens,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    })
  if (call.maxOutputTokens !== undefined) {
    return engine.ledger.hold(accountId, cost(call.maxOutputTokens))
  }
  const bound = (model.maxOutputTokens ?? engine.limits.defaultOutputTokens) * call.choices
  return engine.ledger.hold(accountId, cost(bound), cost(Math.min(bound, leastOutputTokens)))
}

export const modelNotFound = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' does not exist or is not visible to this token`, {
    param: 'model',
  })

function insufficient(call: TextCall): Refusal {
  const hint =
    call.maxOutputTokens === undefined
      ? ''
      : `; it must cover the input and ${call.maxOutputTokens} output tokens`
  return refuse('insufficient_quota', `the account's available balance is too low${hint}`)
}
