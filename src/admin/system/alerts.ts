// What an administrator must look at, and saying that it was looked at. Books that did not add up are
// proven again before their account goes on.
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import { type Lift, liftSuspension } from '../../engine/books/suspended-accounts.ts'
import type { Exchange } from '../../http/exchange.ts'
import { type Alert, findAlert, listAlerts, resolveAlert } from '../../store/catalog/alerts.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'

export const resolution = z.strictObject({ force: z.boolean().optional() })

export const alerts: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/alerts',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const all = query('all') ?? 'false'
      if (all !== 'true' && all !== 'false') {
        return refuse('invalid_request', "'all' is true or false", { param: 'all' })
      }
      const filter = { ...page, kind: query('kind'), all: all === 'true' }
      return listOf(await listAlerts(store.read, filter), view)
    }),
  )

  app.post(
    '/alerts/:id/resolve',
    route(async ({ id }, x) => {
      const body = hasBody(x.request) ? await readBody(x, deps, resolution) : {}
      if (body instanceof Refusal) return body
      const alert = await findAlert(store.read, id)
      if (alert === undefined) return notFound('alert', id)
      if (alert.resolvedAtMs !== undefined) return view(alert)
      const refused = await resolve(deps, alert, x, body.force === true)
      if (refused !== undefined) return refused
      return view((await findAlert(store.read, id)) ?? alert)
    }),
  )
}

const hasBody = (request: Request): boolean =>
  request.headers.get('content-length') !== '0' && request.body !== null

async function resolve(
  { engine }: AdminDeps,
  alert: Alert,
  x: Exchange,
  force: boolean,
): Promise<Refusal | undefined> {
  const { store } = engine
  const { atMs } = x
  const note = (tx: Parameters<typeof recordChange>[0]) =>
    recordChange(tx, x, {
      action: 'alert.resolve',
      subject: alert.id,
      before: { kind: alert.kind, subject: alert.subject, message: alert.message },
      after: { resolved: true, ...(force && { force }) },
    })
  if (alert.kind !== 'books') {
    await store.tx(async (tx) => {
      if (await resolveAlert(tx, alert.id, atMs)) await note(tx)
    })
    return undefined
  }
  const lift: Lift = { accountId: alert.subject, force, atMs }
  const problem = await liftSuspension(engine, lift, note)
  if (problem === undefined) return undefined
  return refuse('conflict', `the books still do not add up: ${problem}`)
}

const view = (alert: Alert) => ({
  id: alert.id,
  kind: alert.kind,
  subject: alert.subject,
  message: alert.message,
  since: time(alert.sinceMs),
  last: time(alert.lastMs),
  times: alert.times,
  resolved_at: alert.resolvedAtMs === undefined ? null : time(alert.resolvedAtMs),
})
