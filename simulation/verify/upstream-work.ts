// Nothing that an upstream has done is unaccounted for: its task was charged, or it is written down as a
// loss, or it is of those few of which nobody can ever know. A task that was given up may still be
// looked for: until then the question is open.
import type { Calling } from '../callers/callers.ts'
import type { Surroundings } from '../gateway/gateway.ts'
import type { Upstream, Work } from '../upstream/upstream.ts'
import { promptIn, type TaskRow, taskRows } from './tasks.ts'

/** Of the time without faults: later looks are not waited for. */
const waitedForMs = 240_000

interface Accounts {
  rows: readonly TaskRow[]
  byUpstream: ReadonlyMap<string, TaskRow>
  /** Upstream ids of losses, and the refs of those that name none. */
  lost: ReadonlySet<string>
  /** Tasks that were given up and will be looked for, and when. */
  searched: ReadonlyMap<string, number>
}

function accountsOf(calling: Calling): Accounts {
  const { db } = calling.stage
  const rows = taskRows(calling)
  const losses = db.query<{ ref: string; upstream_id: string }>(
    'SELECT ref, upstream_id FROM losses',
  ).rows
  const polls = db.query<{ task_id: string; next_at_ms: number }>(
    'SELECT task_id, next_at_ms FROM abandoned_checks',
  ).rows
  return {
    rows,
    byUpstream: new Map(rows.map((row) => [row.upstream_id ?? '', row])),
    lost: new Set(losses.map(({ ref, upstream_id }) => upstream_id || ref)),
    searched: new Map(polls.map(({ task_id, next_at_ms }) => [task_id, next_at_ms])),
  }
}

/** What has been done and is in nobody's books, with whoever it may have been done for. */
function unaccounted({ stage }: Calling, upstream: Upstream, accounts: Accounts) {
  const nowMs = stage.world.wallMs(undefined)
  const found: { work: Work; owners: TaskRow[] }[] = []
  for (const work of upstream.works.values()) {
    const isDone =
      work.kind !== 'text' && work.fate === 'succeeded' && work.cancelledMs === undefined
    // What is told of in two ways was, for whoever heard the other one first, never done.
    if (!isDone || work.endsMs > nowMs || work.contradicts) continue
    const row = accounts.byUpstream.get(work.id)
    if (row?.state === 'succeeded' || accounts.lost.has(work.id)) continue
    const owners = row === undefined ? ownersOf(work, accounts) : [row]
    // Those that are answered at once have no id: the task itself is what was lost or charged.
    const hasNoId = work.protocol === 'images'
    const isCovered = owners.some(({ id, state }) =>
      hasNoId ? state === 'succeeded' || accounts.lost.has(id) : accounts.lost.has(id),
    )
    if (!isCovered) found.push({ work, owners })
  }
  return found
}

/** By the marker; where the upstream takes none, whoever asked in the same words. */
const ownersOf = ({ marker, prompt, protocol }: Work, { rows }: Accounts): TaskRow[] =>
  marker === undefined
    ? rows.filter(
        (row) => promptIn(row) === prompt && row.id.startsWith(protocol === 'vf' ? '' : 'image'),
      )
    : rows.filter(({ id }) => id === marker)

/** Still to be looked for, and soon. Whoever died over a look is made up for in a quarter of an hour. */
export function openTruths(calling: Calling, { speaker }: Surroundings): string[] {
  const accounts = accountsOf(calling)
  const soonMs = calling.stage.calmSinceMs + waitedForMs
  const isSoon = ({ id }: TaskRow) => (accounts.searched.get(id) ?? Number.MAX_VALUE) < soonMs
  return unaccounted(calling, speaker.upstream, accounts)
    .filter(({ owners }) => owners.some(isSoon))
    .filter(({ work }) => work.marker !== undefined || accounts.byUpstream.has(work.id))
    .map(({ work }) => `${work.id} is done and in nobody's books yet`)
}

export function judgeTruth(calling: Calling, upstream: Upstream): void {
  const { world } = calling.stage
  const accounts = accountsOf(calling)
  const seen = new Map<string, TaskRow>()
  for (const row of accounts.rows) {
    if (row.upstream_id === null) continue
    const other = seen.get(row.upstream_id)
    if (other !== undefined) world.blame(`${other.id} and ${row.id} are both ${row.upstream_id}`)
    seen.set(row.upstream_id, row)
    const work = upstream.works.get(row.upstream_id)
    if (work?.marker !== undefined && work.marker !== row.id) {
      world.blame(`${row.id} has taken ${work.id}, which was made for ${work.marker}`)
    }
  }
  for (const { work, owners } of unaccounted(calling, upstream, accounts)) {
    if (isUnknowable(work, accounts)) continue
    if (owners.some(({ id }) => accounts.searched.has(id))) continue
    const whose = owners.map(({ id, state, body }) => `${id} (${state}) ${body}`).join(', ')
    world.blame(
      `${work.id} was done and is neither charged nor a loss; it was for ${whose || 'nobody'}`,
    )
  }
}

/** This upstream takes no name for a task: one whose answer was lost cannot be told from others. */
const isUnknowable = (work: Work, { byUpstream }: Accounts): boolean =>
  work.protocol === 'vf' && !byUpstream.has(work.id)
