// A create of a task, from the caller's body to the answer, once per Idempotency-Key. What a body
// means and how a task looks is the dialect's.
import type { Interface, Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Task, VideoTask } from '../../contract/task.ts'
import { newRecord, recordUnbilled } from '../../engine/call-record.ts'
import type { TaskWish } from '../../engine/tasks/accept-task.ts'
import { createTask } from '../../engine/tasks/create-task.ts'
import type { Exchange } from '../../http/exchange.ts'
import { isForm, readForm } from '../../http/read-form.ts'
import { readJsonObject } from '../../http/read-json.ts'
import { Caller, type SurfaceDeps } from '../surface.ts'
import { type Fields, wrong } from '../text/fields.ts'
import type { Outcome } from './as-caller.ts'

/** What a body says of a wish for a task of that kind. */
export type WishFor<Made extends Task> = Pick<Made, 'kind' | 'request'> &
  Omit<TaskWish, 'kind' | 'request' | 'interface' | 'key'>

export interface CreateRoute<Made extends Task> {
  interface: Interface
  /** Where a key counts: the same one at another path is another create. */
  path: string
  /** Forms are taken besides JSON. */
  forms?: boolean
  parse(fields: Fields, isForm: boolean): WishFor<Made> | Refusal
  answer(task: Made): Response
}

export async function serveCreate<Made extends Task>(
  { engine, limits }: SurfaceDeps,
  x: Exchange,
  token: Token,
  { interface: use, path, forms = false, parse, answer }: CreateRoute<Made>,
): Promise<Outcome> {
  const ctx = new Caller(x, token, (errorBody) => `data: ${errorBody}\n\n`)
  const key = keyIn(x)
  const refused = (refusal: Refusal) =>
    recordUnbilled(engine, newRecord(ctx, use, ''), 'refused', refusal)
  if (key instanceof Refusal) return refused(key)
  const form = forms && isForm(x)
  const body = await (form ? readForm(x, limits) : readJsonObject(x, limits))
  const call = body instanceof Refusal ? body : parse(body.fields, form)
  if (call instanceof Refusal) return refused(call)
  x.connection.keepOpen()
  const named = key !== null && { key: { path, key } }
  const wish = { interface: use, ...call, ...named } as TaskWish
  const created = await createTask(engine, ctx, wish)
  if (created instanceof Refusal) return created
  // What was asked for is what was made.
  const response = answer(created.task as Made)
  if (created.replayed) response.headers.set('idempotent-replayed', 'true')
  return response
}

const longestKey = 255
const keyShape = new RegExp(`^[\\x20-\\x7e]{1,${longestKey}}$`)

/** An empty one is refused: whoever sends it means to be safe from doing things twice. */
function keyIn({ request: { headers } }: Exchange): string | null | Refusal {
  const key = headers.get('idempotency-key')
  if (key === null || keyShape.test(key)) return key
  const message = `'Idempotency-Key' must have 1 to ${longestKey} printable ASCII characters`
  return wrong('Idempotency-Key', message)
}

/** A parsed body as a wish for a video. */
export const asVideo = <Call extends Pick<VideoTask, 'request'>>(
  call: Call | Refusal,
): (Call & { kind: 'video' }) | Refusal =>
  call instanceof Refusal ? call : { ...call, kind: 'video' }
