// What must hold after every commit, whoever made it: no account below nought, and every task that was
// touched at one with its entries. Cheap, because it looks only at what the commit has touched.
import { readTimeline } from '../../src/contract/timeline.ts'
import type { Stage } from '../world/context.ts'

const below = `SELECT id, balance_nanos, held_nanos, leased_nanos FROM accounts
  WHERE balance_nanos < 0 OR held_nanos < 0 OR leased_nanos < 0
    OR balance_nanos - held_nanos - leased_nanos < 0`

/** A task, its hold, its release and its charge: there is one right answer for each state. */
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

const timelines = `SELECT t.id, t.state, t.trail FROM sim_touched x JOIN tasks t ON t.id = x.task_id`

/** What is told of a task last is how it is: both are one write, or there is a moment in between. */
function checkTimelines({ db, world }: Stage): void {
  for (const row of db.query<{ id: string; state: string; timeline: string | null }>(timelines)
    .rows) {
    const last = readTimeline(row.timeline ?? '', 0).at(-1)
    if (last?.state !== row.state) {
      world.blame(`task ${row.id} is ${row.state}, but its trail ends with ${shown(last ?? {})}`)
    }
  }
}

export function checkCommit(stage: Stage): void {
  const { db, world } = stage
  for (const row of db.query(below).rows) {
    world.blame(`an account is below nought after a commit: ${shown(row)}`)
  }
  const touched = db.query('SELECT 1 FROM sim_touched LIMIT 1').rows.length > 0
  if (touched) {
    for (const row of db.query(atOdds).rows) {
      world.blame(`a task and its entries are not at one after a commit: ${shown(row)}`)
    }
    checkTimelines(stage)
    db.run('DELETE FROM sim_touched')
  }
  for (const { what } of db.query<{ what: string }>('SELECT what FROM sim_wrong').rows) {
    world.blame(what)
  }
}

export const shown = (row: object): string =>
  JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
