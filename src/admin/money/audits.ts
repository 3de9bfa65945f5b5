// The audit of the books on request, and the log of who changed what.
import { auditBooks } from '../../billing/proof/audit.ts'
import { auditOptions, suspendAccounts } from '../../engine/books/suspended-accounts.ts'
import { type AuditFilter, listAudit, type StoredAuditRow } from '../../store/catalog/audit-log.ts'
import { listOf, time } from '../answers.ts'
import { forAdministrators, forFinance } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { audit, auditLogQuery, auditQuery, type auditRow, auditRowList } from './audit-schema.ts'

async function auditNow({ engine, account }: Ask) {
  const options = { ...auditOptions(engine), accountId: account?.id }
  const result = await auditBooks(engine.store, options)
  const own = result.problems.filter(({ account_id }) => account_id !== undefined)
  if (own.length > 0) await suspendAccounts(engine, own)
  return result
}

type LogQuery = Ask<{ query: typeof auditLogQuery }>['query']

const auditFilterOf = ({
  actor,
  actor_kind,
  action,
  subject,
  from,
  to,
}: LogQuery): AuditFilter => ({
  actor,
  actorKind: actor_kind,
  action,
  subject,
  ...(from !== undefined && { fromMs: from }),
  ...(to !== undefined && { toMs: to }),
})

const auditView = (row: StoredAuditRow): View<typeof auditRow> => ({
  id: String(row.id),
  at: time(row.atMs),
  actor: row.actor,
  actor_kind: row.actorKind ?? null,
  actor_id: row.actorId ?? null,
  action: row.action,
  subject: row.subject,
  address: row.address ?? null,
  request_id: row.requestId ?? null,
  before: row.before === undefined ? null : JSON.parse(row.before),
  after: row.after === undefined ? null : JSON.parse(row.after),
})

const route = routesOf({ tag: 'Audit', thing: 'audit', permission: forFinance })

export const auditRoutes = [
  route('POST /audit', {
    id: 'auditBooks',
    summary: 'Audit the books, all of them or those of one account',
    query: auditQuery,
    answer: audit,
    returns: 'Each check, and each difference with its place.',
    handle: auditNow,
  }),
  route('GET /audit-log', {
    id: 'listChanges',
    permission: forAdministrators,
    summary: 'Who changed what, newest first',
    query: auditLogQuery,
    answer: auditRowList,
    returns: 'A page of changes.',
    handle: async ({ engine, query, page }) =>
      listOf(await listAudit(engine.store.read, { ...page, ...auditFilterOf(query) }), auditView),
  }),
]
