// One page of a caller's videos: the query, and the answer.

import type { LinkTo } from '../../contract/caller-api.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { VideoTask } from '../../contract/task.ts'
import { wrong } from '../common/fields.ts'
import { unknownIn } from '../media/query.ts'
import { viewOf } from './view.ts'

interface Page {
  limit: number
  order: 'asc' | 'desc'
  after?: string
}

export const maxRows = 100
export const defaultRows = 20

export const isVideoId = (id: string): boolean => /^video_[a-z0-9]{1,64}$/.test(id)

export function pageIn(query: URLSearchParams): Page | Refusal {
  const unknown = unknownIn(query, ['limit', 'order', 'after'])
  if (unknown !== undefined) return unknown
  const limit = query.get('limit') ?? String(defaultRows)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxRows) {
    return wrong('limit', `'limit' must be a whole number from 1 to ${maxRows}`)
  }
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return wrong('order', "'order' must be 'asc' or 'desc'")
  const after = query.get('after')
  if (after === null) return { limit: Number(limit), order }
  if (!isVideoId(after)) return wrong('after', "'after' must be the id of a video")
  return { limit: Number(limit), order, after }
}

/** `tasks` has one more than the page when there is a next one. */
export function pageBody(tasks: readonly VideoTask[], { limit }: Page, linkTo: LinkTo): object {
  const shown = tasks.slice(0, limit)
  return {
    object: 'list',
    data: shown.map((task) => viewOf(task, linkTo)),
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: tasks.length > limit,
  }
}
