// One page of files or batches, newest first: the query, and the answer.
import type { IdPage } from '../../contract/batches/index.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { wrong } from '../common/fields.ts'
import { unknownIn } from '../media/query.ts'

/** Files can be chosen and ordered, too. */
export const fileQuery = ['purpose', 'order'] as const

export const maxRows = 10_000
export const defaultRows = 20

export function pageIn(
  x: RequestContext,
  more: readonly string[],
): (IdPage & { purpose?: string }) | Refusal {
  const query = new URL(x.request.url, 'http://gateway').searchParams
  const unknown = unknownIn(query, ['limit', 'after', ...more])
  if (unknown !== undefined) return unknown
  const limit = query.get('limit') ?? String(defaultRows)
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxRows) {
    return wrong('limit', `'limit' must be a whole number from 1 to ${maxRows}`)
  }
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return wrong('order', "'order' must be 'asc' or 'desc'")
  const after = query.get('after')
  if (after !== null && !/^[\w-]{1,80}$/.test(after)) {
    return wrong('after', "'after' must be the last id of the page before")
  }
  const purpose = query.get('purpose')
  return {
    limit: Number(limit),
    order,
    ...(after !== null && { after }),
    ...(purpose !== null && { purpose }),
  }
}

/** `found` has one more than the page when there is a next one. */
export function listBody<T extends { id: string }>(
  found: readonly T[],
  limit: number,
  show: (value: T) => object,
): object {
  const shown = found.slice(0, limit)
  return {
    object: 'list',
    data: shown.map(show),
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}
