// A text surface: who asks, what is asked, and the answer as JSON or as a stream. What is special to
// a style comes as a table.

import type { CallerApi, TextAnswer, TranslationNote } from '../../contract/caller-api.ts'
import type { Interface, InterfaceRow, ModelKind } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { type TextCall, textWork } from '../../contract/requests.ts'
import type { Keys } from '../../http/body/exact-keys.ts'
import { type BodyLimits, type JsonBody, readJsonObject } from '../../http/body/read-json.ts'
import type { DialectDeclaration } from '../../http/dialect.ts'
import { rateHeaders } from '../../http/rate-headers.ts'
import { answerRefusal } from '../../http/render-error.ts'
import {
  type AnswerHeaders,
  answerJson,
  answerStream,
  type RequestContext,
} from '../../http/request-context.ts'
import { nextTurn } from '../../lib/turns.ts'
import { lossHeader } from '../../styles/common/losses.ts'
import { maxModelName, modelNamedIn } from '../common/fields.ts'
import { Caller, callerOf, type FailedCall, type Surface, tagCall } from '../common/surface.ts'
import {
  chargeText,
  streamWithCharge,
  type UsagePlace,
  wantsCharge,
  withCharge,
} from './charge-in-answer.ts'
import { identify, type Opening } from './conversation.ts'

/** How the calls of one path are read and answered. */
export interface TextShape {
  name: Interface
  keys: Keys
  /** Absent: as a JSON object. */
  readBody?(x: RequestContext, limits: BodyLimits): Promise<JsonBody | Refusal>
  parse(body: JsonBody, x: RequestContext): TextCall | Refusal | Promise<TextCall | Refusal>
  /** Some of its calls cost nothing, also with a price. */
  mayBeFree?: true
  /** What tells one conversation from others; absent: calls are independent of each other. */
  opening?(fields: JsonBody['fields']): Opening
  /** The model that the path names, for the log; absent: the body names it. */
  modelOf?(x: RequestContext): string
  /** Where it has its usage; absent: nowhere. */
  usage?: UsagePlace
  /** Absent: as server-sent events. */
  answerStream?: typeof answerStream
  /** How an error looks inside a stream that has begun. */
  errorEvent(errorBody: string, failed: FailedCall): string
  /** For calls that are made in the background; absent: none is. */
  later?(api: CallerApi, x: RequestContext, ctx: Caller, call: TextCall): Promise<Response>
  /** An answer to a call that failed before it had one; undefined: the usual error. */
  answerFailure?(x: RequestContext, refusal: Refusal, ctx: Caller): Response | undefined
}

/** A style with one path, and the model's name in the body. */
export interface PlainShape extends TextShape {
  path: string
  /** What it says of its models; upstreams are asked in the protocol of the same name. */
  models: Pick<InterfaceRow, 'clientWords' | 'question' | 'translates' | 'minOutputTokens'> & {
    kind?: Exclude<ModelKind, 'image' | 'video'>
  }
  /** What is not as usual: its path as the only prefix, the usual errors and places for a token. */
  dialect?: Partial<DialectDeclaration>
}

export const textSurface = (shape: PlainShape, operations: Surface['operations']): Surface => ({
  name: shape.name,
  interface: { kind: 'text', own: true, ...shape.models },
  prefixes: [shape.path],
  browsers: true,
  loggedAs: shape.name,
  ...shape.dialect,
  operations,
  mount(_, { api, limits, hotPost }) {
    hotPost(shape.path, (x) => serve(shape, api, limits, x))
  },
})

export async function serve(
  shape: TextShape,
  api: CallerApi,
  limits: BodyLimits,
  x: RequestContext,
): Promise<Response> {
  try {
    const ctx = enter(shape, api, x)
    if (ctx instanceof Refusal) return answerRefusal(x, ctx)
    const call = await readCall(shape, api, limits, x, ctx)
    if (call instanceof Refusal) return answerRefusal(x, call)
    x.connection.keepOpen()
    if (call.background === true) return await shape.later!(api, x, ctx, call)
    const place = wantsCharge(x.request) ? shape.usage : undefined
    if (place !== undefined) call.wantsUsage = true
    const done = await api.runText(ctx, call)
    if (done instanceof Refusal) {
      return shape.answerFailure?.(x, done, ctx) ?? answerRefusal(x, done)
    }
    if (done.stream === undefined) {
      const body =
        place === undefined ? done.body! : await withCharge(done.body!, place, done, x.payer)
      return answerJson(x, body, 200, chargedHeaders(done))
    }
    const stream = place === undefined ? done.stream : streamWithCharge(done.stream, place, done)
    return (shape.answerStream ?? answerStream)(x, stream, headersOf(done))
  } finally {
    x.releaseBody?.()
  }
}

/** A caller that is let in. */
export function enter(shape: TextShape, api: CallerApi, x: RequestContext): Caller | Refusal {
  const token = callerOf(api, x)
  return token instanceof Refusal ? token : new Caller(x, token, shape.errorEvent)
}

/** A call that makes sense. What does not leaves a row in the log. */
export async function readCall(
  shape: TextShape,
  api: CallerApi,
  limits: BodyLimits,
  x: RequestContext,
  ctx: Caller,
): Promise<TextCall | Refusal> {
  const { keys, opening } = shape
  const { token } = ctx
  const body =
    api.refusalBeforeBody(token, shape.mayBeFree ?? (shape.later !== undefined && mayRepeat(x))) ??
    tagCall(ctx, x) ??
    (await (shape.readBody?.(x, limits) ?? readJsonObject(x, limits, keys, textWork)))
  const parsed = body instanceof Refusal ? body : shape.parse(body, x)
  const call = parsed instanceof Promise ? await parsed : parsed
  if (x.releaseBody !== undefined) await nextTurn()
  if (call instanceof Refusal) {
    const named = body instanceof Refusal ? '' : modelNamedIn(body.fields)
    const model = shape.modelOf?.(x).slice(0, maxModelName) ?? named
    return api.refuseCall(ctx, shape.name, model, call)
  }
  ctx.tags = api.withEndUser(token, ctx.tags, call.fields)
  if (x.own?.serviceTier !== undefined) askForTier(call, x.own.serviceTier)
  if (opening !== undefined) call.conversation = () => identify(x, opening(call.fields))
  ctx.call = call
  return call
}

/** A create that is repeated needs no balance. */
const mayRepeat = ({ request }: RequestContext): boolean => request.headers.has('idempotency-key')

/** Last, and without a refusal: a price need not have it. */
function askForTier(call: TextCall, name: string): void {
  const asks = call.asks ?? []
  if (asks.some(({ kind }) => kind === 'tier')) return
  call.asks = [...asks, { kind: 'tier', name, param: 'service_tier' }]
}

function chargedHeaders(done: TextAnswer): AnswerHeaders | undefined {
  const charge = chargeText(done)
  const others = headersOf(done)
  if (charge === undefined) return others
  const headers = { 'x-gateway-charge': charge, 'x-gateway-currency': done.currency }
  return others === undefined ? headers : { ...headers, ...others }
}

/** Nothing for most answers. */
function headersOf({
  rate,
  translation,
  servedModel,
  contentType,
}: TextAnswer): AnswerHeaders | undefined {
  const isPlain = translation === undefined && servedModel === undefined
  if (rate === undefined && isPlain && contentType === undefined) return undefined
  return {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...rateHeaders(rate),
    ...translationHeaders(translation),
    ...servedHeader(servedModel),
  }
}

/** Which model served a call of a virtual model or an alias. */
const servedHeader = (model: string | undefined): Record<string, string> | undefined =>
  model === undefined ? undefined : { 'x-gateway-served-model': model }

export function translationHeaders(
  note: TranslationNote | undefined,
): Record<string, string> | undefined {
  if (note === undefined) return undefined
  const lost = lossHeader(note.losses)
  return {
    'x-gateway-translation': note.path,
    ...(lost !== undefined && { 'x-gateway-translation-loss': lost }),
  }
}
