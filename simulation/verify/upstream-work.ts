// Verifies that all work of an upstream is accounted for: its task was charged, or it is recorded as a loss, or
// it is one of the few cases that no gateway can know of. An abandoned task may still be checked: until then the
// question is open.
import type { Calling } from '../callers/calling.ts'
import type { Surroundings } from '../gateway/gateway.ts'
import type { Upstream, Work } from '../upstream/upstream.ts'
import { promptIn, type TaskRow, taskRows } from './tasks.ts'

/** Of the phase without faults: later polls are not awaited. */
const waitedForMs = 240_000

interface Accounts {
  rows: readonly TaskRow[]
  byUpstream: ReadonlyMap<string, TaskRow>
  /** Upstream ids of losses, and the refs of losses without one. */
  lost: ReadonlySet<string>
  /** Abandoned tasks that will be checked, and when. */
  searched: ReadonlyMap<string, number>
}

function accountsOf(calling: Calling): Accounts {
  const { db } = calling.context
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

/** Work that is not accounted for, with the inputs that it may belong to. */
function unaccounted({ context }: Calling, upstream: Upstream, accounts: Accounts) {
  const nowMs = context.world.wallMs(undefined)
  const found: { work: Work; owners: TaskRow[] }[] = []
  for (const work of upstream.works.values()) {
    const isDone =
      work.kind !== 'text' && work.fate === 'succeeded' && work.cancelledMs === undefined
    // Work with contradicting reports counts as not done for a gateway that got the other report first.
    if (!isDone || work.endsMs > nowMs || work.contradicts) continue
    const row = accounts.byUpstream.get(work.id)
    if (row?.state === 'succeeded' || accounts.lost.has(work.id)) continue
    const owners = row === undefined ? ownersOf(work, accounts) : [row]
    // Synchronous work has no id: the task itself was lost or charged.
    const hasNoId = work.protocol === 'images'
    const isCovered = owners.some(({ id, state }) =>
      hasNoId ? state === 'succeeded' || accounts.lost.has(id) : accounts.lost.has(id),
    )
    if (!isCovered) found.push({ work, owners })
  }
  return found
}

const prefixes: Readonly<Record<string, string>> = { vf: '', responses: 'resp' }

/** By the marker, or by the prompt where the upstream takes no marker. */
const ownersOf = ({ marker, prompt, protocol }: Work, { rows }: Accounts): TaskRow[] =>
  marker === undefined
    ? rows.filter(
        (row) => promptIn(row) === prompt && row.id.startsWith(prefixes[protocol] ?? 'image'),
      )
    : rows.filter(({ id }) => id === marker)

/** Will be checked soon. A check by a gateway that died is repeated after 15 minutes. */
export function openUpstreamWork(calling: Calling, { upstreamWire }: Surroundings): string[] {
  const accounts = accountsOf(calling)
  const soonMs = calling.context.calmSinceMs + waitedForMs
  const isSoon = ({ id }: TaskRow) => (accounts.searched.get(id) ?? Number.MAX_VALUE) < soonMs
  return unaccounted(calling, upstreamWire.upstream, accounts)
    .filter(({ owners }) => owners.some(isSoon))
    .filter(({ work }) => work.marker !== undefined || accounts.byUpstream.has(work.id))
    .map(({ work }) => `${work.id} is done and not accounted for yet`)
}

export function verifyUpstreamWork(calling: Calling, upstream: Upstream): void {
  const { world } = calling.context
  const accounts = accountsOf(calling)
  const seen = new Map<string, TaskRow>()
  for (const row of accounts.rows) {
    if (row.upstream_id === null) continue
    const other = seen.get(row.upstream_id)
    if (other !== undefined)
      world.addViolation(`${other.id} and ${row.id} are both ${row.upstream_id}`)
    seen.set(row.upstream_id, row)
    const work = upstream.works.get(row.upstream_id)
    if (work?.marker !== undefined && work.marker !== row.id) {
      world.addViolation(`${row.id} has taken ${work.id}, which was made for ${work.marker}`)
    }
  }
  for (const { work, owners } of unaccounted(calling, upstream, accounts)) {
    if (isUnknowable(work, accounts)) continue
    if (owners.some(({ id }) => accounts.searched.has(id))) continue
    const whose = owners.map(({ id, state, body }) => `${id} (${state}) ${body}`).join(', ')
    world.addViolation(
      `${work.id} was done and is neither charged nor a loss; it was for ${whose || 'no input'}`,
    )
  }
}

/** This upstream takes no marker: a task whose reply was lost cannot be identified. */
const isUnknowable = (work: Work, { byUpstream }: Accounts): boolean =>
  (work.protocol === 'vf' || work.protocol === 'responses') && !byUpstream.has(work.id)
