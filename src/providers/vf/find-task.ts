// Searches for a create that was cut off. This upstream takes no marker and lists no prompts, but
// the status of a finished task has its prompt. So a task is taken for the lost one when every
// visible property matches the request, and only for text-only requests: images are never reported
// back.
import type { Found, LostCreate, TaskUpstream, UpstreamError } from '../../contract/provider.ts'
import type { InputMedia } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { isPlainId, textOf } from '../tasks/fields.ts'
import { pageSize, rowsBetween } from '../tasks/pages.ts'
import type { Json } from '../tasks/read-reply.ts'
import { stateOf, wordOf } from '../tasks/states.ts'
import type { AskPage } from '../tasks/style.ts'

/** With more candidates than this, reading each would cost the upstream too much. */
const maxCandidates = 20
/** Its times are China Standard Time, without a zone. */
const zone = '+08:00'

export interface Urls {
  list: string
  one(upstreamId: string): string
}

export const idIn = ({ output }: Json): unknown =>
  isObject(output) ? output['task_id'] : undefined

/** The searchable part of every request. */
interface Input {
  prompt: string
  media: readonly InputMedia[]
}

/** Whether the status of a finished task matches the request exactly. */
type Likeness<Request> = (body: Json, request: Request, upstream: TaskUpstream) => boolean

export async function findTask<Request extends Input>(
  lost: LostCreate<Request>,
  upstream: TaskUpstream,
  urls: Urls,
  ask: AskPage,
  isLike: Likeness<Request>,
): Promise<Found> {
  const { prompt, media } = lost.request
  const none = { kind: 'found', by: 'likeness', upstreamIds: [] } as const
  if (prompt === '' || media.length > 0) return none
  const candidates = await candidatesFor(lost, upstream, urls, ask)
  if ('error' in candidates) return { kind: 'failed', error: candidates.error }
  if (candidates.ids.length > maxCandidates) return none
  const upstreamIds: string[] = []
  for (const id of candidates.ids) {
    const answer = await ask(urls.one(id))
    if ('error' in answer) return { kind: 'failed', error: answer.error }
    const isIt = idIn(answer.body) === id && isLike(answer.body, lost.request, upstream)
    if (isIt) upstreamIds.push(id)
  }
  return { ...none, upstreamIds }
}

/** Unclaimed tasks of the model and the time range; oldest first. */
async function candidatesFor(
  lost: LostCreate<Input>,
  { model }: TaskUpstream,
  urls: Urls,
  ask: AskPage,
): Promise<{ ids: readonly string[] } | { error: UpstreamError }> {
  const name = encodeURIComponent(model)
  const list = {
    url: (page: number) => `${urls.list}?page_no=${page}&page_size=${pageSize}&model_name=${name}`,
    rowsIn: (body: Json) => body['data'],
    createdMs: (row: Json) => momentOf(row['gmt_create'] ?? row['submit_time']),
  }
  const listed = await rowsBetween(list, lost, ask)
  if ('error' in listed) return listed
  const ids = listed.rows
    .filter(({ model_name }) => model_name === model)
    .filter(({ status }) => stateOf(wordOf(textOf(status))) === 'succeeded')
    .sort((one, other) => list.createdMs(one)! - list.createdMs(other)!)
    .map((row) => textOf(row['task_id']))
    .filter(isPlainId)
  return { ids: await lost.unclaimed(ids) }
}

/** Milliseconds, or a formatted time: 2026-01-02 03:04:05.678 */
function momentOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const moment = Date.parse(`${textOf(value).replace(' ', 'T')}${zone}`)
  return Number.isNaN(moment) ? undefined : moment
}
