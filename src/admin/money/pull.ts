// Statements that the gateway gets itself, from the reports of a channel's provider.
import { z } from 'zod'
import type { Channel } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { pullStatement } from '../../engine/statements/pull-statement.ts'
import { auditChange, wrong } from '../answers.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { importedStatement } from './statement-schema.ts'
import { view } from './statement-view.ts'

const dayMs = 86_400_000
const maxDays = 92

const day = (description: string) =>
  z
    .string()
    .refine((text) => dayIn(text) !== undefined, 'must be a day such as 2026-11-17')
    .describe(description)

function dayIn(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
  return isDay ? ms : undefined
}

const pullRequest = z
  .strictObject({ from: day('First day, by UTC.'), to: day('Last day, included.') })
  .meta({ id: 'PullStatement' })

async function pull({ engine, found, body, x }: Ask<{ body: typeof pullRequest; found: Channel }>) {
  const [fromMs, lastMs] = [dayIn(body.from)!, dayIn(body.to)!]
  if (lastMs < fromMs) return wrong('to', "must not be before 'from'")
  if (lastMs - fromMs >= maxDays * dayMs) return wrong('from', `must be within ${maxDays} days`)
  if (fromMs > engine.clock.nowMs()) return wrong('from', 'must not be in the future')
  const period = { fromMs, untilMs: lastMs + dayMs }
  x.connection.keepOpen()
  const name = `${found.billing?.kind} ${body.from} to ${body.to}`
  const made = await pullStatement(engine, found, period, name)
  if (made instanceof Refusal) return made
  const { id, channel } = made
  const change = { action: 'statement.import', subject: id, after: { name, channel } }
  await engine.store.tx((tx) => auditChange(tx, x, change))
  return { ...view(engine, made), warnings: [] }
}

const route = routesOf({
  tag: 'Statements',
  thing: 'channel',
  param: 'Id or name of a channel.',
  permission: forFinance,
  find: ({ catalog }, id): Channel | undefined =>
    catalog.channels.find((each) => each.id === id || each.name === id),
})

export const pullRoutes = [
  route('POST /channels/:id/statements/pull', {
    id: 'pullStatement',
    summary: "Get a statement from the reports of a channel's provider, and compare it",
    body: pullRequest,
    examples: { day: { from: '2026-11-17', to: '2026-11-17' } },
    answer: importedStatement,
    status: 201,
    returns: 'The statement and how its lines compare.',
    refusals: [
      'conflict',
      'upstream_error',
      'upstream_invalid_response',
      'upstream_permission_denied',
      'upstream_rate_limited',
      'upstream_unreachable',
    ],
    handle: pull,
  }),
]
