// Searches for a create that was cut off. Every create carries its task's marker in a field that
// this upstream reports back, so a task with the marker is the one; where the caller uses that
// field itself, the list does not identify the task, and none is taken.

import type { Found, LostCreate, TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { isEpochSeconds, isPlainId, textOf } from '../tasks/fields.ts'
import { pageSize, rowsBetween } from '../tasks/pages.ts'
import type { AskPage } from '../tasks/style.ts'
import { isMarked, versionFor } from './build-request.ts'

const skewMs = 3_600_000

export async function findTask(
  lost: LostCreate<VideoRequest>,
  upstream: TaskUpstream,
  tasksUrl: string,
  ask: AskPage,
): Promise<Found> {
  const upstreamModel = versionFor(upstream)
  const found = { kind: 'found', by: 'marker', upstreamModel } as const
  if (!isMarked(lost.request)) return { ...found, upstreamIds: [] }
  const model = encodeURIComponent(upstreamModel)
  const list = {
    url: (page: number) =>
      `${tasksUrl}?page_num=${page}&page_size=${pageSize}&filter.model=${model}`,
    rowsIn: (body: Row) => body['items'],
    createdMs: ({ created_at: at }: Row) => (isEpochSeconds(at) ? at * 1000 : undefined),
  }
  // The marker decides; the creation time only bounds the search, as clocks may differ.
  const around = { fromMs: lost.fromMs - skewMs, untilMs: lost.untilMs + skewMs }
  const listed = await rowsBetween(list, around, ask)
  if ('error' in listed) return { kind: 'failed', error: listed.error }
  const ids = listed.rows
    .filter((row) => row['safety_identifier'] === upstream.marker)
    .sort((one, other) => Number(one['created_at']) - Number(other['created_at']))
    .map(({ id }) => textOf(id))
    .filter(isPlainId)
  return { ...found, upstreamIds: await lost.unclaimed(ids) }
}

type Row = Readonly<Record<string, unknown>>
