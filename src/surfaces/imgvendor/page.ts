// The page of an image task list.
import type { Refusal } from '../../contract/errors.ts'
import { wrong } from '../common/fields.ts'
import { unknownIn } from '../media/query.ts'

const maxPages = 1_000
const maxRows = 500
const defaultRows = 30

export function pageIn(query: URLSearchParams): { limit: number; offset: number } | Refusal {
  const unknown = unknownIn(query, ['pageNum', 'pageSize'])
  if (unknown !== undefined) return unknown
  const page = numberIn(query, 'pageNum', 1, maxPages)
  if (typeof page !== 'number') return page
  const limit = numberIn(query, 'pageSize', defaultRows, maxRows)
  if (typeof limit !== 'number') return limit
  return { limit, offset: (page - 1) * limit }
}

function numberIn(
  query: URLSearchParams,
  name: string,
  usual: number,
  max: number,
): number | Refusal {
  const given = query.get(name) ?? ''
  if (given === '') return usual
  if (/^[1-9]\d{0,3}$/.test(given) && Number(given) <= max) return Number(given)
  return wrong(name, `'${name}' must be a whole number from 1 to ${max}`)
}
