// What views of all admin resources share: lists, times, what is not there, and the audit log entry
// of a change.
import { type Refusal, refuse } from '../contract/errors.ts'
import type { Viewer } from '../contract/people.ts'
import type { RequestContext } from '../http/request-context.ts'
import { appendAudit } from '../store/catalog/audit-log.ts'
import type { Page, PageQuery, Tx } from '../store/index.ts'
import { pageOf, textCursor } from '../store/sql/cursor.ts'

export const listOf = <T, V>(page: Page<T>, view: (item: T) => V) => ({
  items: page.items.map(view),
  next_cursor: page.nextCursor ?? null,
})

/** A page of what is in memory, in order of a key that no two items share. */
export function pageOfList<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
  { limit, cursor }: PageQuery,
): Page<T> {
  const after = cursor === undefined ? '' : textCursor(cursor)
  const rest = [...items]
    .filter((item) => keyOf(item) > after)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return pageOf(rest, limit, keyOf, (item) => item)
}

export const time = (ms: number): string => new Date(ms).toISOString()

export const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : time(ms)

export const notFound = (what: string, id: string): Refusal =>
  refuse('not_found', `there is no ${what} '${id}'`)

export const notPermitted = ({ role }: Viewer): Refusal =>
  refuse('not_permitted', `your role (${role}) may not do this`)

/** Something is wrong with a field of the query. */
export const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', `'${param}' ${message}`, { param })

const actorOf = (viewer: Viewer | undefined) => {
  if (viewer === undefined) return { actor: 'gateway', actorKind: 'gateway' as const }
  const { actor, personId } = viewer
  return personId === undefined
    ? { actor, actorKind: 'admin_token' as const }
    : { actor, actorKind: 'person' as const, actorId: personId }
}

/** Who changed what; goes into the transaction of the change. No secret may be in either state. */
export async function auditChange(
  tx: Tx,
  { atMs, viewer, requestId, connection }: RequestContext,
  change: { action: string; subject: string; before?: object; after?: object },
): Promise<void> {
  const { before, after, ...rest } = change
  const address = connection.ip()
  await appendAudit(tx, {
    atMs,
    ...actorOf(viewer),
    requestId,
    ...(address !== undefined && { address }),
    ...rest,
    ...(before !== undefined && { before: JSON.stringify(before) }),
    ...(after !== undefined && { after: JSON.stringify(after) }),
  })
}
