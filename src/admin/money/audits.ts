// The audit of the books on request, and the log of who changed what.
import { auditBooks } from '../../billing/proof/audit.ts'
import { auditOptions, suspendAccounts } from '../../engine/books/suspended-accounts.ts'
import {
  type AuditFilter,
  listAudit,
  namesOfSubjects,
  type StoredAuditRow,
} from '../../store/catalog/audit-log.ts'
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

type Fields = Record<string, unknown>
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

/** As it is called now, or was when it was changed. */
function nameIn(before: Fields | null, after: Fields | null): string | null {
  const names = [after?.['name'], before?.['name'], after?.['model'], before?.['model']]
  return names.find((each) => typeof each === 'string') ?? null
}

const stateOf = (text: string | undefined): Fields | null =>
  text === undefined ? null : JSON.parse(text)

const auditView = (
  row: StoredAuditRow,
  names: ReadonlyMap<string, string>,
): View<typeof auditRow> => ({
  id: String(row.id),
  at: time(row.atMs),
  actor: row.actor,
  actor_kind: row.actorKind ?? null,
  actor_id: row.actorId ?? null,
  action: row.action,
  subject: row.subject,
  name: names.get(row.subject) ?? nameIn(stateOf(row.before), stateOf(row.after)),
  address: row.address ?? null,
  request_id: row.requestId ?? null,
  before: stateOf(row.before),
  after: stateOf(row.after),
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
    async handle({ engine: { store }, query, page }) {
      const found = await listAudit(store.read, { ...page, ...auditFilterOf(query) })
      const names = await namesOfSubjects(
        store.read,
        found.items.map(({ subject }) => subject),
      )
      return listOf(found, (row) => auditView(row, names))
    },
  }),
]
