// The books proven on request, and the record of who changed what.
import { auditBooks } from '../billing/audit.ts'
import { Refusal } from '../contract/errors.ts'
import { auditOptions, stopAccounts } from '../engine/stopped-accounts.ts'
import { findAccount } from '../store/accounts.ts'
import { listAudit, type StoredAuditRow } from '../store/audit-log.ts'
import { listOf, notFound, pageQuery, type Resource, route, time } from './route.ts'

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
      if (own.length > 0) await stopAccounts(engine, own)
      return result
    }),
  )

  app.get(
    '/audit-log',
    route(async ({ query }) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      return listOf(await listAudit(store.read, page), auditView)
    }),
  )
}

export const auditView = (row: StoredAuditRow) => ({
  id: String(row.id),
  at: time(row.atMs),
  actor: row.actor,
  action: row.action,
  subject: row.subject,
  before: row.before === undefined ? null : JSON.parse(row.before),
  after: row.after === undefined ? null : JSON.parse(row.after),
})
