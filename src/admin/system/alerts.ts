// Alerts: what an administrator must act on, and resolving it. Books that did not add up are audited
// again before their account goes on.
import { type Refusal, refuse } from '../../contract/errors.ts'
import { type Lift, liftSuspension } from '../../engine/books/suspended-accounts.ts'
import { missingPrices } from '../../engine/catalog/missing-prices.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RequestContext } from '../../http/request-context.ts'
import {
  type Alert,
  acknowledgeAlert,
  findAlert,
  listAlerts,
  resolveAlert,
} from '../../store/catalog/alerts.ts'
import { auditChange, listOf, time, timeOrNull } from '../answers.ts'
import { forAdministrators, forStaff } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { alertList, alertQuery, alert as alertSchema, resolution } from './system-schema.ts'

async function resolveOne({
  engine,
  found: alert,
  body,
  x,
}: Ask<{ body: typeof resolution; found: Alert }>) {
  if (alert.resolvedAtMs !== undefined) return view(alert)
  const refused = await resolve(engine, alert, x, body.force === true)
  return refused ?? view((await findAlert(engine.store.read, alert.id)) ?? alert)
}

async function resolve(
  engine: Engine,
  alert: Alert,
  x: RequestContext,
  force: boolean,
): Promise<Refusal | undefined> {
  const { store } = engine
  const { atMs } = x
  const by = x.viewer?.actor
  const note = (tx: Parameters<typeof auditChange>[0]) =>
    auditChange(tx, x, {
      action: 'alert.resolve',
      subject: alert.id,
      before: { kind: alert.kind, subject: alert.subject, message: alert.message },
      after: { resolved: true, ...(force && { force }) },
    })
  if (alert.kind === 'missing_price' && missingPrices(engine).includes(alert.subject)) {
    const message = `model '${alert.subject}' still has no price; with a price the alert is resolved`
    return refuse('conflict', message)
  }
  if (alert.kind !== 'books') {
    const isOver = await store.tx(async (tx) => {
      if (!(await engine.jobs.conditions.dismiss(tx, alert.kind, alert.subject))) return false
      if (await resolveAlert(tx, alert.id, { atMs, by })) await note(tx)
      return true
    })
    return isOver ? undefined : refuse('conflict', lasting[alert.kind] ?? 'it still lasts')
  }
  const lift: Lift = { accountId: alert.subject, force, atMs, by }
  const problem = await liftSuspension(engine, lift, note)
  if (problem === undefined) return undefined
  return refuse('conflict', `the books still do not add up: ${problem}`)
}

/** Again, or of a resolved one: nothing changes. */
async function acknowledge({ engine, found: { id }, x }: Ask<{ found: Alert }>) {
  await engine.store.tx(async (tx) => {
    const isNew = await acknowledgeAlert(tx, id, { atMs: x.atMs, by: x.viewer?.actor })
    if (isNew) await auditChange(tx, x, { action: 'alert.acknowledge', subject: id })
  })
  return view((await findAlert(engine.store.read, id))!)
}

/** Why alerts of these kinds cannot be resolved by hand yet. */
const lasting: Readonly<Record<string, string>> = {
  channel_down:
    'the channel is still down; the alert is resolved by a call that succeeds, or when the channel is disabled or deleted',
  error_rate:
    'the share of failed requests is still above the limit of a rule; the alert is resolved when it is not, or when the rule is removed',
  task_failures:
    'half of the tasks still fail; the alert is resolved when fewer of the last 10 minutes do',
}

const view = (alert: Alert): View<typeof alertSchema> => ({
  id: alert.id,
  kind: alert.kind,
  subject: alert.subject,
  message: alert.message,
  since: time(alert.sinceMs),
  last: time(alert.lastMs),
  times: alert.times,
  resolved_at: timeOrNull(alert.resolvedAtMs),
  resolved_by: alert.resolvedBy ?? null,
  acknowledged_at: timeOrNull(alert.acknowledgedAtMs),
  acknowledged_by: alert.acknowledgedBy ?? null,
  recurred_at: timeOrNull(alert.recurredAtMs),
})

const route = routesOf({
  tag: 'Alerts',
  thing: 'alert',
  permission: forStaff,
  find: ({ store }, id) => findAlert(store.read, id),
})

export const alertRoutes = [
  route('GET /alerts', {
    id: 'listAlerts',
    summary: 'What an administrator must act on',
    query: alertQuery,
    answer: alertList,
    async handle({ engine, query: { kind, all, resolved }, page }) {
      return listOf(await listAlerts(engine.store.read, { ...page, kind, all, resolved }), view)
    },
  }),
  route('POST /alerts/:id/resolve', {
    id: 'resolveAlert',
    permission: forAdministrators,
    summary: 'Resolve an alert',
    body: resolution,
    optionalBody: true,
    examples: { force: { force: true } },
    answer: alertSchema,
    refusals: ['conflict'],
    handle: resolveOne,
  }),
  route('POST /alerts/:id/acknowledge', {
    id: 'acknowledgeAlert',
    summary: 'Acknowledge an alert: it is being looked after',
    description:
      'It stays open until it is resolved, and the console stops counting it until it occurs again.',
    answer: alertSchema,
    handle: acknowledge,
  }),
]
