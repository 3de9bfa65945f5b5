// Invariants after every commit: no account below zero, and every touched task agrees with its entries. Cheap,
// because it reads only what the commit touched.
import { readTimeline } from '../../src/contract/timeline.ts'
import type { SimContext } from '../world/context.ts'

const below = `SELECT id, balance_nanos, held_nanos, leased_nanos FROM accounts
  WHERE balance_nanos < 0 OR held_nanos < 0 OR leased_nanos < 0
    OR balance_nanos - held_nanos - leased_nanos < 0`

/** A task, its hold, its release and its charge: one correct combination per state. */
const atOdds = `SELECT x.task_id AS id, t.state, t.hold_nanos, t.charge_nanos,
    h.amount_nanos AS held_nanos, r.amount_nanos AS released_nanos, c.amount_nanos AS charged_nanos
  FROM sim_touched x LEFT JOIN tasks t ON t.id = x.task_id
  LEFT JOIN entries h ON h.ref = x.task_id AND h.kind = 'hold'
  LEFT JOIN entries r ON r.ref = x.task_id AND r.kind = 'release'
  LEFT JOIN entries c ON c.ref = x.task_id AND c.kind = 'charge'
  WHERE t.id IS NULL OR h.id IS NULL OR h.amount_nanos <> -t.hold_nanos
    OR (r.id IS NOT NULL) <> (t.state IN ('succeeded', 'failed', 'cancelled'))
    OR (r.id IS NOT NULL AND r.amount_nanos <> -h.amount_nanos)
    OR (c.id IS NOT NULL) <> (t.state = 'succeeded')
    OR t.charge_nanos <> coalesce(-c.amount_nanos, 0)`

const timelines = `SELECT t.id, t.state, t.timeline FROM sim_touched x JOIN tasks t ON t.id = x.task_id`

/** The last step of a timeline is the state of its task: both are one write. */
function checkTimelines({ db, world }: SimContext): void {
  for (const row of db.query<{ id: string; state: string; timeline: string | null }>(timelines)
    .rows) {
    const last = readTimeline(row.timeline ?? '', 0).at(-1)
    if (last?.state !== row.state) {
      world.addViolation(
        `task ${row.id} is ${row.state}, but its timeline ends with ${shown(last ?? {})}`,
      )
    }
  }
}

export function checkCommit(context: SimContext): void {
  const { db, world } = context
  for (const row of db.query(below).rows) {
    world.addViolation(`an account is below nought after a commit: ${shown(row)}`)
  }
  const touched = db.query('SELECT 1 FROM sim_touched LIMIT 1').rows.length > 0
  if (touched) {
    for (const row of db.query(atOdds).rows) {
      world.addViolation(`a task and its entries are not at one after a commit: ${shown(row)}`)
    }
    checkTimelines(context)
    db.run('DELETE FROM sim_touched')
  }
  for (const { what } of db.query<{ what: string }>('SELECT what FROM sim_wrong').rows) {
    world.addViolation(what)
  }
}

export const shown = (row: object): string =>
  JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
