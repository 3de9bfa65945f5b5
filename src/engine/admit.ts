// Permission and money before any upstream work: is the model visible, served and priced, is the
// token within its limits, and can the account pay for the most this call may cost?
import { chargeTokens } from '../billing/charge.ts'
import type { Hold } from '../billing/ledger.ts'
import type { Route } from '../catalog/snapshot.ts'
import type { Model, Token } from '../contract/catalog.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { Price } from '../contract/price.ts'
import type { TextCall } from '../contract/requests.ts'
import type { CallContext, Engine } from './engine.ts'
import type { LimitedToken, RatePass } from './limits/rate-limits.ts'

export interface Admission {
  /** Where it may be served, best first. */
  routes: readonly Route[]
  price: Price
  hold: Hold
  pass: RatePass
}

/** Answers at once unless the limits have to be asked for elsewhere. */
export function admitText(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
): Admission | Refusal | Promise<Admission | Refusal> {
  const served = findServed(engine, ctx, call)
  if (served instanceof Refusal) return served
  const { model, routes } = served
  const accountId = ctx.token.accountId
  if (engine.ledger.stopped.has(accountId)) return accountStopped
  if (!engine.store.healthy || !engine.ledger.usable(accountId)) {
    return notNow
  }
  const price = engine.prices.current(model.pricedAs ?? model.name, accountId)
  // A price by the picture or the second says nothing of a text.
  if (price?.terms.unit !== 'token') return modelNotFound(call.model)
  const held = engine.ledger.reserve(accountId, amountFor(engine, call, model, price))
  const go = (hold: Hold | undefined) =>
    hold === undefined ? insufficient(call) : enterWith(engine, ctx, call, { routes, price, hold })
  if (!(held instanceof Promise)) return go(held)
  return held.then(go, (error) => {
    engine.log.warn('whether an account has credit cannot be told', {
      account_id: accountId,
      error,
    })
    return notNow
  })
}

function enterWith(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
  { routes, price, hold }: Omit<Admission, 'pass'>,
): Admission | Refusal | Promise<Admission | Refusal> {
  const passed = enter(engine, ctx, mostTokens(call))
  if (passed instanceof Promise) {
    return passed.then(
      (pass) => within(engine, { routes, price, hold, pass }),
      (error) => {
        engine.ledger.release(hold)
        throw error
      },
    )
  }
  return within(engine, { routes, price, hold, pass: passed })
}

/** The model and its routes, if this caller may ask for it in this way now. */
export function findServed(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
): { model: Model; routes: readonly Route[] } | Refusal {
  const model = engine.catalog.visible(ctx.token, call.model)
  if (model === undefined) return modelNotFound(call.model)
  const routes = engine.catalog.routes(model, call.interface)
  if (routes.length === 0) {
    const ways = engine.catalog.servedBy(model).join(', ')
    return refuse(
      'model_not_supported',
      `model '${call.model}' cannot be used here; it is served by: ${ways}`,
      { param: 'model' },
    )
  }
  if (engine.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  return { model, routes }
}

/** Counts against the token's limits by what the call may use; corrected when it has ended. */
export const enter = (engine: Engine, { token }: CallContext, tokens: number) =>
  engine.rates.enter(countedAs(token), tokens)

const mostTokens = ({ inputTokens, maxOutputTokens = 0 }: TextCall): number =>
  inputTokens + maxOutputTokens

/** By its names, so that gateways with databases of their own know the same token. */
export function countedAs(token: Token): LimitedToken {
  const { limits, accountName, name } = token
  const unlimited =
    limits.rpm === undefined && limits.tpm === undefined && limits.concurrency === undefined
  return unlimited ? token : { id: `${accountName}/${name}`, limits }
}

function within(
  engine: Engine,
  admission: Omit<Admission, 'pass'> & { pass: RatePass | Refusal },
): Admission | Refusal {
  const { pass } = admission
  if (!(pass instanceof Refusal)) return admission as Admission
  engine.ledger.release(admission.hold)
  return pass
}

/** What the call may cost at most. */
function amountFor(engine: Engine, call: TextCall, model: Model, price: Price): bigint {
  const bound = (model.maxOutputTokens ?? engine.limits.defaultOutputTokens) * call.choices
  return chargeTokens(price.terms, {
    inputTokens: call.inputTokens,
    outputTokens: call.maxOutputTokens ?? bound,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  })
}

const notNow = refuse('overloaded', 'the gateway cannot record charges at the moment', {
  retryAfterSeconds: 2,
})

/** Nobody can say when: somebody has to look at the books first. */
export const accountStopped = refuse(
  'account_stopped',
  'the books of this account are being looked at; until then it can start nothing that costs',
)

export const modelNotFound = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' does not exist or is not visible to this token`, {
    param: 'model',
  })

function insufficient(call: TextCall): Refusal {
  const hint =
    call.maxOutputTokens === undefined
      ? '; without max_tokens it must cover the longest answer of the model: set max_tokens'
      : `; it must cover the input and ${call.maxOutputTokens} output tokens`
  return refuse('insufficient_quota', `the account's available balance is too low${hint}`)
}
