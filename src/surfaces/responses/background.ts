// Responses that are made in the background: created, fetched, cancelled and deleted by their id. Reads use the
// gateway's own rows; no upstream is called while a caller waits for one.
import type { CallerApi, KeptResponse } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import { tagsHeader } from '../../contract/tags/index.ts'
import { answer } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { wrong } from '../common/fields.ts'
import type { App, Caller } from '../common/surface.ts'
import { asCaller, type Outcome } from '../media/as-caller.ts'
import { asReplay, keyIn } from '../media/create.ts'
import { type UsagePlace, wantsCharge, withCharge } from '../text/charge-in-answer.ts'
import { bodyOf, headersOf } from './view.ts'

const path = '/v1/responses'
/** Headers of the create that say how the call is made. */
const callHeaders = ['x-gateway-fallback', tagsHeader]

/** The create: its caller gets the response as it is then. */
export async function createInBackground(
  api: CallerApi,
  x: RequestContext,
  ctx: Caller,
  call: TextCall,
): Promise<Response> {
  const key = keyIn(x)
  if (key instanceof Refusal) return answer(x, api.refuseCall(ctx, 'responses', call.model, key))
  const headers = Object.fromEntries(
    callHeaders.flatMap((name) => {
      const value = x.request.headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  const named = key !== null && { key: { path, key } }
  const made = await api.createResponse(ctx, call, { headers, ...named })
  if (made instanceof Refusal) return answer(x, made)
  const response = await answerKept(api, x, made)
  return made.replayed ? asReplay(response) : response
}

export function mountBackground(app: App, api: CallerApi, usage: UsagePlace): void {
  app.get(`${path}/:id`, ({ env: { context: x }, req }) =>
    asCaller(api, x, (token) => read(api, x, token, req.param('id'), usage)),
  )
  app.post(`${path}/:id/cancel`, ({ env: { context: x }, req }) =>
    asCaller(api, x, (token) => cancel(api, x, token, req.param('id'))),
  )
  app.delete(`${path}/:id`, ({ env: { context: x }, req }) =>
    asCaller(api, x, (token) => remove(api, x, token, req.param('id'))),
  )
}

async function read(
  api: CallerApi,
  x: RequestContext,
  token: Token,
  id: string,
  usage: UsagePlace,
): Promise<Outcome> {
  const { searchParams } = new URL(x.request.url, 'http://gateway')
  if (searchParams.get('stream') === 'true') {
    return wrong('stream', 'a background response is fetched as a whole, not as a stream')
  }
  const kept = await api.readResponse(token, id)
  return kept === undefined ? notFound(id) : answerKept(api, x, kept, usage)
}

async function cancel(
  api: CallerApi,
  x: RequestContext,
  token: Token,
  id: string,
): Promise<Outcome> {
  x.connection.keepOpen()
  const kept = await api.cancelResponse(token, id)
  return kept instanceof Refusal ? ownWords(kept, id) : answerKept(api, x, kept)
}

async function remove(
  api: CallerApi,
  x: RequestContext,
  token: Token,
  id: string,
): Promise<Outcome> {
  x.connection.keepOpen()
  const deleted = await api.deleteResponse(token, id)
  if (deleted instanceof Refusal) return ownWords(deleted, id)
  return answerJson(x, JSON.stringify({ id, object: 'response', deleted: true }))
}

async function answerKept(
  api: CallerApi,
  x: RequestContext,
  kept: KeptResponse,
  usage?: UsagePlace,
): Promise<Response> {
  const { currency } = api
  const { task } = kept
  const showsCharge = usage !== undefined && kept.answer !== undefined && wantsCharge(x.request)
  const { requestId, createdAtMs: atMs, model, chargeNanos } = task
  const record = { requestId, atMs, model, chargeNanos, charge: {} }
  const plain = bodyOf(kept)
  const body = showsCharge ? await withCharge(plain, usage, { record, currency }, x.payer) : plain
  return answerJson(x, body, 200, headersOf(kept, currency))
}

/** One of another account gets the same answer as one that does not exist. */
const notFound = (id: string): Refusal =>
  refuse('response_not_found', `there is no background response '${id.slice(0, 80)}'`)

/** Tasks are responses here. */
const ownWords = (refusal: Refusal, id: string): Refusal =>
  refusal.code === 'task_not_found' ? notFound(id) : refusal
