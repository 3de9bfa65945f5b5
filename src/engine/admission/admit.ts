// Admission, before any upstream work: checks that the model is visible, served and priced, that
// the token is within its limits, and that the account can pay the maximum cost of the call.

import { maxChargeTokens } from '../../billing/charge.ts'
import type { Hold, Ledger } from '../../billing/ledger.ts'
import { nativeRoutes, type Route } from '../../catalog/snapshot.ts'
import type { CallContext } from '../../contract/caller-api.ts'
import type { Model, Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Price } from '../../contract/price.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { BaseDeps, Load, Offers, Seals } from '../base-deps.ts'
import type { Jobs } from '../jobs.ts'
import type { Placement } from '../routing/affinity.ts'
import type { Tried } from '../routing/pick-route.ts'
import { costText } from './cost-text.ts'
import { hiddenModel } from './hidden-model.ts'
import type { LimitedToken, RateLimits, RatePass } from './limits/rate-limits.ts'
import { planVirtual, type TextMember } from './members.ts'
import { heldBounds } from './min-output.ts'
import { notNow, priceFor } from './price-for.ts'
import { resolveReferences } from './references.ts'
import { maxCharge, toolRefusal } from './server-tools.ts'
import { boundsOf, type TextBounds } from './text-bounds.ts'
import { reserveWithin } from './within-budgets.ts'

export interface AdmissionDeps extends BaseDeps, Offers, Seals {
  readonly random: () => number
  readonly ledger: Ledger
  readonly rates: RateLimits
  readonly jobs: Pick<Jobs, 'clockWatch' | 'emptyAccounts'>
  readonly load: Pick<Load, 'draining'>
}

export interface Admission {
  /** Candidate routes, best first. */
  routes: readonly Route[]
  /** Routes among these that are excluded from the start. */
  tried: Tried | undefined
  /** Where its conversation belongs; undefined: nowhere, or there is no choice. */
  placement?: Placement | undefined
  /** The call as it goes upstream. */
  sent: TextCall
  price: Price
  /** Its maximum usage; the hold is the price of it. */
  bounds: TextBounds
  hold: Hold
  pass: RatePass
  /** The member of a virtual model that the call goes to now; absent: the model has no members. */
  served?: Model
  /** Members that may serve it if that one cannot, best first. */
  others?: readonly TextMember[]
}

/** Synchronous unless the limits have to be read from Redis, or the store is slow. */
export function admitText(
  engine: AdmissionDeps,
  ctx: CallContext,
  call: TextCall,
): Admission | Refusal | Promise<Admission | Refusal> {
  const { doubt } = engine.store
  // Sent now, it might not be charged; refused now, it might have been served a moment later.
  if (doubt !== undefined) return doubt.then(() => admitText(engine, ctx, call))
  const served = findServed(engine, ctx, call)
  if (served instanceof Refusal) return served
  const { model } = served
  if (model.backing !== undefined) {
    const plan = planVirtual(engine, ctx, call, model)
    return plan instanceof Refusal ? plan : reserveFor(engine, ctx, call, plan, plan.wantedNanos)
  }
  const referred =
    call.references === undefined
      ? { call, routes: served.routes, tried: undefined }
      : resolveReferences(engine.seal, ctx, call, served.routes)
  if (referred instanceof Refusal) return referred
  const { routes, tried, call: sent } = referred
  const price = priceFor(engine, ctx, call.model, model)
  if (price instanceof Refusal) return price
  const bounds = boundsOf(model, call)
  const unpriced = call.serverTools && toolRefusal(call.serverTools, price.terms)
  if (unpriced !== undefined) return unpriced
  const wanted = maxCharge(call, price.terms, heldBounds(bounds, routes))
  return reserveFor(engine, ctx, call, { routes, tried, sent, price, bounds }, wanted)
}

/** Holds the maximum cost, then counts the call. */
function reserveFor(
  engine: AdmissionDeps,
  ctx: CallContext,
  call: TextCall,
  plan: Omit<Admission, 'hold' | 'pass'>,
  wanted: bigint,
): Admission | Refusal | Promise<Admission | Refusal> {
  const go = (hold: Hold | undefined) =>
    hold === undefined
      ? insufficient(call, plan.bounds, wanted)
      : enterWith(engine, ctx, call, { ...plan, hold })
  const held = reserve(engine, ctx, wanted, call, plan.bounds)
  return held instanceof Promise
    ? held.then((hold) => (hold instanceof Refusal ? hold : go(hold)))
    : go(held)
}

/** On the account, and in the budgets that the call falls under. */
export function reserve(
  engine: AdmissionDeps,
  ctx: CallContext,
  wanted: bigint,
  call?: TextCall,
  bounds?: TextBounds,
): Hold | undefined | Promise<Hold | undefined | Refusal> {
  const { token, tags } = ctx
  const { accountId } = token
  const { ledger } = engine
  const budgets = ledger.budgets.of(token, tags)
  const held =
    budgets === undefined
      ? ledger.reserve(accountId, wanted, ctx)
      : reserveWithin(engine, budgets, wanted, ctx, call && bounds && { call, bounds })
  if (!(held instanceof Promise)) return held
  return held.catch((error) => {
    engine.log.warn('credit check failed', {
      account_id: accountId,
      error,
    })
    return notNow
  })
}

/** For work that is free, but not done for an account without balance. */
export async function findFunds(
  engine: AdmissionDeps,
  ctx: CallContext,
  call: TextCall,
  model: Model,
): Promise<undefined | Refusal> {
  const price = priceFor(engine, ctx, call.model, model)
  if (price instanceof Refusal) return price
  const unpriced = call.serverTools && toolRefusal(call.serverTools, price.terms)
  if (unpriced !== undefined) return unpriced
  const isFree = maxChargeTokens(price.terms, 1_000_000, 0) === 0n
  const hold = await reserve(engine, ctx, isFree ? 0n : 1n)
  if (hold instanceof Refusal) return hold
  if (hold === undefined) return refuse('insufficient_quota', 'the account has no balance')
  engine.ledger.release(hold)
  return undefined
}

function enterWith(
  engine: AdmissionDeps,
  ctx: CallContext,
  call: TextCall,
  admitted: Omit<Admission, 'pass'>,
): Admission | Refusal | Promise<Admission | Refusal> {
  const { hold } = admitted
  const passed = enter(engine, ctx, countedTokens(call, admitted.bounds))
  if (passed instanceof Promise) {
    return passed.then(
      (pass) => within(engine, { ...admitted, pass }),
      (error) => {
        engine.ledger.release(hold)
        throw error
      },
    )
  }
  return within(engine, { ...admitted, pass: passed })
}

/** The model and its routes, if this caller may use it through this interface now. */
export function findServed(
  engine: AdmissionDeps,
  ctx: CallContext,
  call: TextCall,
): { model: Model; routes: readonly Route[] } | Refusal {
  const model = engine.catalog.visible(ctx.token, call.model)
  if (model === undefined) return hiddenModel(engine, ctx.token, call.model)
  const isNative = ctx.token.translation === 'off'
  const all = engine.catalog.routes(model, call.interface)
  const routes = isNative ? nativeRoutes(all) : all
  if (routes.length === 0) {
    const ways = engine.catalog.servedBy(model, isNative).join(', ')
    return refuse(
      'model_not_supported',
      `model '${call.model}' cannot be used here; it is served by: ${ways}`,
      { param: 'model' },
    )
  }
  if (call.makes !== undefined && call.makes !== model.kind) {
    const message = `model '${call.model}' is for ${model.kind}; this call is for ${call.makes}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  const refused = call.rewritten && rewriteRefusal(call.rewritten, ctx.token, model)
  if (refused !== undefined) return refused
  if (engine.load.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  return engine.jobs.clockWatch.refusal ?? { model, routes }
}

/** A body of another style is a translation, too. */
function rewriteRefusal(
  { path, losses: [lost] }: NonNullable<TextCall['rewritten']>,
  { translation }: Token,
  { translate }: Model,
): Refusal | undefined {
  if (translation === 'off' || translate === false) {
    const message = `the body has another style (${path}), and translation is off`
    return refuse('model_not_supported', message)
  }
  if (translation !== 'strict' || lost === undefined) return undefined
  const message = `'${lost}' would be changed or left out, and changes are not allowed`
  return refuse('invalid_request', message, { param: lost })
}

/** Counts the call's estimated usage against the token's limits; corrected when it has ended. */
export const enter = (
  { rates }: Pick<AdmissionDeps, 'rates'>,
  { token }: CallContext,
  tokens: number,
) => rates.enter(countedAs(token), tokens)

/** A realistic estimate, unlike the bounds: limits would otherwise refuse calls that fit. */
const countedTokens = ({ inputTokens, maxOutputTokens }: TextCall, bounds: TextBounds): number =>
  maxOutputTokens === undefined ? inputTokens : inputTokens + bounds.outputTokens

/** By name, so that gateways with separate databases identify the same token. */
export function countedAs(token: Token): LimitedToken {
  const { limits, accountName, name } = token
  const unlimited =
    limits.rpm === undefined && limits.tpm === undefined && limits.concurrency === undefined
  return unlimited ? token : { id: `${accountName}/${name}`, limits }
}

function within(
  engine: AdmissionDeps,
  admission: Omit<Admission, 'pass'> & { pass: RatePass | Refusal },
): Admission | Refusal {
  const { pass } = admission
  if (!(pass instanceof Refusal)) return admission as Admission
  engine.ledger.release(admission.hold)
  return pass
}

/** The whole hold must be available: the maximum cost is known before the call is sent. */
export const insufficient = (call: TextCall, bounds: TextBounds, wantedNanos: bigint): Refusal =>
  refuse(
    'insufficient_quota',
    `the account's available balance is too low: this call may cost ${costText(wantedNanos, { call, bounds })}`,
  )
