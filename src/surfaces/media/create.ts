// Creates a task, from the caller's body to the answer, once per Idempotency-Key. Parsing and the answer
// are up to the surface.

import type { ImageCreate, VideoCreate } from '../../contract/caller-api.ts'
import type { Interface, Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Task, VideoTask } from '../../contract/task.ts'
import type { Keys } from '../../http/body/exact-keys.ts'
import { isForm, readForm } from '../../http/body/read-form.ts'
import { readJsonObject } from '../../http/body/read-json.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { nextTurn } from '../../lib/turns.ts'
import { type Fields, maxModelName, modelNamedIn, wrong } from '../common/fields.ts'
import { Caller, type SurfaceDeps, tagCall } from '../common/surface.ts'
import type { Outcome } from './as-caller.ts'
import { writeUploads } from './images.ts'

/** A parsed create request. */
export type CreateOf<Made extends Task> = Omit<
  Made extends VideoTask ? VideoCreate : ImageCreate,
  'interface' | 'key'
>

export interface ReadRoute<Call> {
  interface: Interface
  /** The scope of a key: at another path it is another create. */
  path: string
  /** Accepts forms besides JSON. */
  forms?: { lists: ReadonlySet<string> }
  keys: Keys
  /** The model, if it is in the path. */
  pathModel?: string
  /** Reads the model's name, if possible. Default: the field `model`. */
  modelIn?(fields: Fields): unknown
  /** Whether the caller may see it. Default: as in its list of models. */
  isVisible?(name: string): boolean
  parse(
    fields: Fields,
    isForm: boolean,
    account: string | undefined,
  ): Call | Refusal | Promise<Call | Refusal>
}

interface CreateRoute<Made extends Task> extends ReadRoute<CreateOf<Made>> {
  answer(task: Made): Response
}

export async function serveCreate<Made extends Task>(
  deps: SurfaceDeps,
  x: RequestContext,
  token: Token,
  { answer, ...route }: CreateRoute<Made>,
): Promise<Outcome> {
  const read = await readCreate(deps, x, token, route)
  if (read instanceof Refusal) return read
  const created = await deps.api.createTask(read.ctx, read.create as VideoCreate | ImageCreate)
  if (created instanceof Refusal) return created
  // The task is of the requested kind.
  const response = withServed(answer(created.task as Made), created.task)
  return created.replayed ? asReplay(response) : response
}

/** Which model serves a task of a virtual model or an alias. */
export function withServed(response: Response, { servedModel }: Task): Response {
  if (servedModel !== undefined) response.headers.set('x-gateway-served-model', servedModel)
  return response
}

export function asReplay(response: Response): Response {
  response.headers.set('idempotent-replayed', 'true')
  return response
}

/** The request with its key. The engine logs one that cannot be read. */
export async function readCreate<Call extends object>(
  { api, limits }: SurfaceDeps,
  x: RequestContext,
  token: Token,
  route: ReadRoute<Call>,
): Promise<{ ctx: Caller; create: Call & Pick<VideoCreate, 'interface' | 'key'> } | Refusal> {
  const { interface: use, path, forms, keys } = route
  const ctx = new Caller(x, token, (errorBody) => `data: ${errorBody}\n\n`)
  const key = keyIn(x)
  const refused = (refusal: Refusal, model = route.pathModel ?? '') =>
    api.refuseCall(ctx, use, model, refusal)
  if (key instanceof Refusal) return refused(key)
  const away = api.refusalBeforeBody(token, key !== null) ?? tagCall(ctx, x)
  if (away !== undefined) return refused(away)
  const form = forms !== undefined && isForm(x)
  const body = await (form
    ? readForm(x, limits, keys, forms.lists)
    : readJsonObject(x, limits, keys))
  if (body instanceof Refusal) return refused(body)
  const { fields } = body
  const model = nameIn(fields, route)
  const isSeen = route.isVisible ?? ((name) => api.models.visible(token, name) !== undefined)
  if (model !== '' && !isSeen(model)) return refused(api.models.refusalOf(token, model), model)
  if (form) await writeUploads(fields, x.payer)
  const call = await route.parse(fields, form, x.payer)
  if (x.releaseBody !== undefined) await nextTurn()
  if (call instanceof Refusal) return refused(call, model || modelNamedIn(fields))
  ctx.tags = api.withEndUser(token, ctx.tags, fields)
  x.connection.keepOpen()
  const named = key !== null && { key: { path, key } }
  return { ctx, create: { interface: use, ...call, ...named } }
}

/** Empty when there is none; shortened to the maximum length. */
function nameIn(fields: Fields, { modelIn }: Pick<ReadRoute<object>, 'modelIn'>): string {
  const name = modelIn === undefined ? fields['model'] : modelIn(fields)
  if (typeof name !== 'string') return ''
  return name.length > maxModelName ? `${name.slice(0, 32)}…` : name
}

const maxKey = 255
const keyShape = new RegExp(`^[\\x20-\\x7e]{1,${maxKey}}$`)

/** An empty one is refused: its sender relies on it against duplicates. */
export function keyIn({ request: { headers } }: RequestContext): string | null | Refusal {
  const key = headers.get('idempotency-key')
  if (key === null || keyShape.test(key)) return key
  const message = `'Idempotency-Key' must have 1 to ${maxKey} printable ASCII characters`
  return wrong('Idempotency-Key', message)
}

/** A parsed body as the create of a video. */
export const asVideo = <Call extends Pick<VideoCreate, 'request'>>(
  call: Call | Refusal,
): (Call & { kind: 'video' }) | Refusal =>
  call instanceof Refusal ? call : { ...call, kind: 'video' }
