// The books proven on request, and the record of who changed what.
import { auditBooks } from '../../billing/proof/audit.ts'
import { Refusal } from '../../contract/errors.ts'
import { auditOptions, suspendAccounts } from '../../engine/books/suspended-accounts.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { type AuditFilter, listAudit, type StoredAuditRow } from '../../store/catalog/audit-log.ts'
import type { PageQuery } from '../../store/index.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  route,
  spanQuery,
  time,
} from '../legacy-route.ts'

export const audits: Resource = (app, deps) => {
  const { store } = deps.engine

  app.post(
    '/audit',
    route(async ({ query }) => {
      const name = query('account')
      const account = name === undefined ? undefined : await findAccount(store.read, name)
      if (name !== undefined && account === undefined) return notFound('account', name)
      const { engine } = deps
      const result = await auditBooks(store, { ...auditOptions(engine), accountId: account?.id })
      const own = result.problems.filter(({ account_id }) => account_id !== undefined)
      if (own.length > 0) await suspendAccounts(engine, own)
      return result
    }),
  )

  app.get(
    '/audit-log',
    route(async ({ query }) => {
      const filter = auditFilterFrom(query, deps)
      if (filter instanceof Refusal) return filter
      return listOf(await listAudit(store.read, filter), auditView)
    }),
  )
}

export function auditFilterFrom(
  read: (name: string) => string | undefined,
  deps: AdminDeps,
): (PageQuery & AuditFilter) | Refusal {
  const page = pageQuery(read, deps)
  if (page instanceof Refusal) return page
  const span = spanQuery(read)
  if (span instanceof Refusal) return span
  const [actor, action, subject] = [read('actor'), read('action'), read('subject')]
  return { ...page, ...span, actor, action, subject }
}

export const auditView = (row: StoredAuditRow) => ({
  id: String(row.id),
  at: time(row.atMs),
  actor: row.actor,
  action: row.action,
  subject: row.subject,
  address: row.address ?? null,
  request_id: row.requestId ?? null,
  before: row.before === undefined ? null : JSON.parse(row.before),
  after: row.after === undefined ? null : JSON.parse(row.after),
})
