// Admission of a text call, before any upstream work: the model is visible, served and priced, the account
// can pay the maximum cost of the call, and the token is within its limits.
import { type Hold, lackingNanos } from '../../billing/ledger.ts'
import { maxChargeTokens } from '../../billing/max-charge.ts'
import { nativeRoutes } from '../../catalog/snapshot.ts'
import type { Model, Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import { policyRefusal, qualifying } from '../admission/data-policy.ts'
import { hiddenModel } from '../admission/hidden-model.ts'
import { freePass, type RatePass } from '../admission/limits/rate-limits.ts'
import { heldBounds } from '../admission/min-output.ts'
import { priceFor } from '../admission/price-for.ts'
import { appliedAt } from '../admission/price-reach.ts'
import { resolveReferences } from '../admission/references.ts'
import { enter, insufficient, reserve } from '../admission/reserve.ts'
import { maxCharge, unpricedIn } from '../admission/server-tools.ts'
import { boundsOf } from '../admission/text-bounds.ts'
import { planMembers } from './members.ts'
import type { OpenCall } from './open-call.ts'
import { beyondTask } from './own-call.ts'

type Refused = undefined | Refusal

/** A promise only where the limits have to be read from Redis, or the store is slow. */
export function admitText(open: OpenCall): Refused | Promise<Refused> {
  const { engine, ctx, record } = open
  const { doubt } = engine.store
  // Sent now, it might not be charged; refused now, it might have been served a moment later.
  if (doubt !== undefined) return admitLater(open, doubt)
  const model = findServed(open)
  if (model instanceof Refusal) return model
  const wanted = model.backing === undefined ? plan(open, model) : planMembers(open, model)
  if (wanted instanceof Refusal) return wanted
  record.priceId = open.price.id
  const held = reserve(engine, ctx, ctx.own === undefined ? wanted : beyondTask(ctx, wanted), open)
  return held instanceof Promise ? enterLater(open, held, wanted) : enterWith(open, held, wanted)
}

const admitLater = (open: OpenCall, doubt: Promise<void>): Promise<Refused> =>
  doubt.then(() => admitText(open))

type Held = Hold | undefined | Refusal

const enterLater = (open: OpenCall, held: Promise<Held>, wanted: bigint): Promise<Refused> =>
  held.then((hold) => enterWith(open, hold, wanted))

/** The model, if this caller may use it through this interface now; the call gets its routes. */
export function findServed(open: OpenCall): Model | Refusal {
  const { engine, ctx, call } = open
  const { token } = ctx
  const model = engine.catalog.visible(token, call.model)
  if (model === undefined) return hiddenModel(engine, token, call.model)
  const isNative = token.translation === 'off'
  const all = engine.catalog.routes(model, call.interface)
  const served = isNative ? nativeRoutes(all) : all
  open.routes = qualifying(token, served)
  if (served.length === 0) {
    const ways = engine.catalog.servedBy(model, isNative).join(', ')
    const message = `model '${call.model}' cannot be used here; it is served by: ${ways}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  if (open.routes.length === 0) return policyRefusal(token, call.model)
  if (call.makes !== undefined && call.makes !== model.kind) {
    const message = `model '${call.model}' is for ${model.kind}; this call is for ${call.makes}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  const refused = call.rewritten && rewriteRefusal(call.rewritten, token, model)
  if (refused !== undefined) return refused
  if (engine.load.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  return engine.jobs.clockWatch.refusal ?? model
}

/** A body of another style is a translation, too. */
function rewriteRefusal(
  { path, losses: [lost] }: NonNullable<TextCall['rewritten']>,
  { translation }: Token,
  { translate }: Model,
): Refused {
  if (translation === 'off' || translate === false) {
    const message = `the body has another style (${path}), and translation is off`
    return refuse('model_not_supported', message)
  }
  if (translation !== 'strict' || lost === undefined) return undefined
  const message = `'${lost}' would be changed or left out, and changes are not allowed`
  return refuse('invalid_request', message, { param: lost })
}

/** The maximum cost at a model without members. */
export function plan(open: OpenCall, model: Model): bigint | Refusal {
  const { engine, ctx, call } = open
  const refused = findReferred(open)
  if (refused !== undefined) return refused
  const price = priceFor(engine, ctx, call.model, model)
  if (price instanceof Refusal) return price
  const unpriced = unpricedIn(call, price.terms)
  if (unpriced !== undefined) return unpriced
  open.price = price
  open.admittedMs = engine.clock.nowMs()
  open.bounds = boundsOf(model, call)
  open.applied = appliedAt(price.terms, open.admittedMs)
  return maxCharge(call, price.terms, heldBounds(open.bounds, open.routes), open.applied)
}

/** A call that names objects kept upstream goes where they are. */
export function findReferred(open: OpenCall): Refused {
  if (open.call.references === undefined) return undefined
  const referred = resolveReferences(open.engine.seal, open.ctx, open.call, open.routes)
  if (referred instanceof Refusal) return referred
  open.call = referred.call
  open.routes = referred.routes
  open.tried = referred.tried
  return undefined
}

/** The cost is held: the call is counted. */
function enterWith(open: OpenCall, hold: Held, wanted: bigint): Refused | Promise<Refused> {
  if (hold instanceof Refusal) return hold
  if (hold === undefined) return insufficient(open, wanted)
  const { engine, ctx, call, bounds } = open
  open.hold = hold
  // A realistic estimate, unlike the bounds: limits would otherwise refuse calls that fit.
  const outputTokens = call.maxOutputTokens === undefined ? 0 : bounds.outputTokens
  const isTask = ctx.own?.task !== undefined
  const passed = isTask ? freePass : enter(engine, ctx, call.inputTokens + outputTokens)
  return passed instanceof Promise ? passLater(open, passed) : within(open, passed)
}

const passLater = (open: OpenCall, passed: Promise<RatePass | Refusal>): Promise<Refused> =>
  passed.then(
    (pass) => within(open, pass),
    (error) => {
      open.engine.ledger.release(open.hold)
      throw error
    },
  )

function within(open: OpenCall, pass: RatePass | Refusal): Refused {
  if (pass instanceof Refusal) {
    open.engine.ledger.release(open.hold)
    return pass
  }
  open.pass = pass
  return undefined
}

/**
 * A request that has grown in translation is held for as it is sent: every byte of it may be a token that
 * the upstream counts. A refusal: the account, or a budget, cannot pay for it.
 */
export function holdSent(open: OpenCall, grownBytes: number): Refused | Promise<Refused> {
  const { engine, ctx, call, bounds, price, applied, hold } = open
  const inputTokens = Math.min(bounds.windowTokens, bounds.inputTokens + grownBytes)
  if (inputTokens <= bounds.inputTokens) return undefined
  const sent = { ...bounds, inputTokens }
  const wanted = maxCharge(call, price.terms, sent, applied)
  const lacking = lackingNanos(hold, beyondTask(ctx, wanted))
  if (lacking === 0n) return undefined
  const join = (more: Hold | undefined | Refusal): Refused => {
    if (more instanceof Refusal) return more
    if (more === undefined) return insufficient({ call, bounds: sent }, wanted)
    engine.ledger.join(hold, more)
    return undefined
  }
  const held = reserve(engine, ctx, lacking)
  return held instanceof Promise ? held.then(join) : join(held)
}

/** For work that is free, but not done for an account without balance. */
export async function findFunds(
  { engine, ctx, call }: OpenCall,
  model: Model,
): Promise<undefined | Refusal> {
  const price = priceFor(engine, ctx, call.model, model)
  if (price instanceof Refusal) return price
  const unpriced = unpricedIn(call, price.terms)
  if (unpriced !== undefined) return unpriced
  const isFree = maxChargeTokens(price.terms, 1_000_000, 0) === 0n
  const hold = await reserve(engine, ctx, isFree ? 0n : 1n)
  if (hold instanceof Refusal) return hold
  if (hold === undefined) return refuse('insufficient_quota', 'the account has no balance')
  engine.ledger.release(hold)
  return undefined
}
