// The audit of the books and the audit log as the admin API tells of them.
import { z } from 'zod'
import { actorKinds } from '../../contract/people.ts'
import {
  accountField,
  amount,
  column,
  count,
  pageFields,
  pageOf,
  query,
  spanFields,
  time,
} from '../schema.ts'

const check = z.enum([
  'transfers',
  'balances',
  'never_below_zero',
  'charged_once',
  'charges_and_requests',
  'charges_and_tasks',
  'holds',
  'receipts',
  'seals',
  'closed_months',
  'sums_by_hour',
  'guards',
  'amounts',
  'credit_leases',
])

export const auditProblem = z.object({
  check,
  account: column(z.string().exactOptional()),
  account_id: z.string().exactOptional(),
  entry: column(z.int().exactOptional()),
  number: column(z.int().exactOptional(), 'receipt'),
  ref: column(z.string().exactOptional(), 'for'),
  problem: column(z.string()),
})

export const auditCheck = z.object({
  check: column(check),
  proves: column(z.array(z.string())),
  problems: column(count(), 'result'),
})

export const audit = z
  .object({
    ok: z.boolean(),
    accounts: count(),
    entries: count(),
    receipts: count(),
    seals: count(),
    problems: z.array(auditProblem),
    checks: z.array(auditCheck),
    took_ms: amount(),
  })
  .meta({ id: 'Audit' })

export const auditRow = z
  .object({
    id: z.string(),
    at: column(time()),
    actor: column(z.string(), 'who'),
    actor_kind: column(z.enum(actorKinds).nullable(), 'kind').describe(
      'Whether `actor` is the name of a person. Null: an older row, which does not say.',
    ),
    actor_id: z.string().nullable().describe('Id of the person; unknown of older rows.'),
    action: column(z.string()),
    subject: z.string(),
    name: column(z.string().nullable(), 'what').describe(
      'What the subject is called, a price by its model; null: it has no name.',
    ),
    address: z.string().nullable().describe('Where it was asked from; unknown of older rows.'),
    request_id: z.string().nullable(),
    before: column(z.record(z.string(), z.unknown()).nullable()).describe('As it was.'),
    after: column(z.record(z.string(), z.unknown()).nullable()).describe('As it became.'),
  })
  .meta({ id: 'AuditRow' })
export const auditRowList = pageOf(auditRow, 'AuditRowList')

export const auditQuery = z.object({ account: accountField })
export const auditLogQuery = z.object({
  actor: query.text('Who it was: a person, or `admin`.'),
  actor_kind: query.choice(actorKinds, 'Whether a person did it.'),
  action: query.text('Such as `channel.update`.'),
  subject: query.text('Id or name of what was changed; of a price, its model.'),
  ...spanFields,
  ...pageFields,
})

export type Audit = z.infer<typeof audit>
export type AuditRow = z.infer<typeof auditRow>
