// The filters and the page of a task list.
import type { Refusal } from '../../contract/errors.ts'
import type { TaskState } from '../../contract/task.ts'
import { wrong } from '../common/fields.ts'
import { unknownIn } from '../media/query.ts'

interface NativePage {
  limit: number
  offset: number
  states?: readonly TaskState[]
  ids?: readonly string[]
  model?: string
}

export const maxPages = 500
export const maxRows = 500
export const defaultRows = 20
const maxIds = 500

export const statesOf: Readonly<Record<string, readonly TaskState[]>> = {
  queued: ['accepted', 'unknown', 'queued'],
  running: ['running'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

export function pageIn(query: URLSearchParams): NativePage | Refusal {
  const single = ['page_num', 'page_size', 'filter.status', 'filter.model']
  const unknown = unknownIn(query, single, ['filter.task_ids'])
  if (unknown !== undefined) return unknown
  const page = numberIn(query, 'page_num', 1, maxPages)
  if (typeof page !== 'number') return page
  const limit = numberIn(query, 'page_size', defaultRows, maxRows)
  if (typeof limit !== 'number') return limit
  const status = query.get('filter.status') ?? ''
  if (status !== '' && !Object.hasOwn(statesOf, status)) {
    const known = Object.keys(statesOf).join(', ')
    return wrong('filter.status', `'filter.status' must be one of ${known}`)
  }
  const ids = idsIn(query)
  if (ids.length > maxIds) {
    return wrong('filter.task_ids', `'filter.task_ids' has more than ${maxIds} ids`)
  }
  const model = query.get('filter.model') ?? ''
  return {
    limit,
    offset: (page - 1) * limit,
    ...(status !== '' && { states: statesOf[status]! }),
    ...(ids.length > 0 && { ids }),
    ...(model !== '' && { model }),
  }
}

/** Repeated, or separated by commas. */
const idsIn = (query: URLSearchParams): string[] =>
  query
    .getAll('filter.task_ids')
    .flatMap((each) => each.split(','))
    .map((id) => id.trim())
    .filter((id) => id !== '')

function numberIn(
  query: URLSearchParams,
  name: string,
  usual: number,
  max: number,
): number | Refusal {
  const given = query.get(name) ?? ''
  if (given === '') return usual
  if (/^[1-9]\d{0,2}$/.test(given) && Number(given) <= max) return Number(given)
  return wrong(name, `'${name}' must be a whole number from 1 to ${max}`)
}
