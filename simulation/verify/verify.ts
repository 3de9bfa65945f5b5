// The verdict on a world that has come to its end: what the database says, held against what the
// upstream truly did, what callers were told and what receivers have got.
import { auditBooks } from '../../src/billing/proof/audit.ts'
import type { Store } from '../../src/store/store.ts'
import type { Calling } from '../callers/callers.ts'
import { kyselyOver } from '../gateway/database.ts'
import type { Surroundings } from '../gateway/gateway.ts'
import { judgeNotices } from './callbacks.ts'
import { shown } from './check-commit.ts'
import { judgeTasks } from './tasks.ts'
import { judgeText } from './text.ts'
import { judgeTimelines } from './timelines.ts'
import { judgeTruth, openTruths } from './upstream-work.ts'

/** Due by every clock of the world. */
const skewMs = 30_000

/** What has not come to its end yet. */
export function openEnds(calling: Calling, around: Surroundings): string[] {
  const { stage, books, gateways } = calling
  if (books.waiting > 0) return [`${books.waiting} callers wait`]
  if (!gateways.every(({ ready }) => ready)) return ['a gateway is not up']
  const writing = books.accounts.some(({ id }) =>
    gateways.some(({ engine }) => {
      const funds = engine?.ledger.funds(id)
      return funds !== undefined && (funds.pending > 0 || funds.stale)
    }),
  )
  if (writing) return ['a write is on its way']
  const { db, world } = stage
  const live = db.query<{ id: string; state: string }>(
    `SELECT id, state FROM tasks WHERE state IN ('accepted', 'unknown', 'queued', 'running') LIMIT 5`,
  ).rows
  if (live.length > 0) return live.map(({ id, state }) => `task ${id} is ${state}`)
  const due = db.query<{ id: string; task_id: string }>(
    `SELECT id, task_id FROM callbacks WHERE state = 'waiting' AND next_at_ms <= ? LIMIT 5`,
    [world.wallMs(undefined) + skewMs],
  ).rows
  if (due.length > 0) return due.map(({ task_id }) => `nobody was told of ${task_id}`)
  const kept = db.query(
    'SELECT id, held_nanos, leased_nanos FROM accounts WHERE held_nanos <> 0 OR leased_nanos <> 0',
  ).rows
  if (kept.length > 0) return kept.map((row) => `money is held or drawn: ${shown(row)}`)
  const [bare] = db.query<{ count: number }>(
    `SELECT count(*) AS count FROM entries e LEFT JOIN receipts r ON r.entry_id = e.id
     WHERE r.entry_id IS NULL AND e.kind NOT IN ('hold', 'release')`,
  ).rows
  return bare!.count > 0 ? [`${bare!.count} entries have no receipt`] : openTruths(calling, around)
}

export function judge(calling: Calling, around: Surroundings): void {
  const { stage } = calling
  judgeBooks(calling)
  judgeCredits(calling)
  judgeTasks(calling, around.speaker.upstream)
  judgeTimelines(calling)
  judgeText(calling, around.speaker.upstream)
  judgeTruth(calling, around.speaker.upstream)
  judgeNotices(calling, around.receivers)
  stage.world.note(`judged: ${stage.world.violations.length} violations`)
}

/** The gateway's own audit, and the sums once more without it. */
function judgeBooks({ stage, gateways, books }: Calling): void {
  const { world, db } = stage
  const read = kyselyOver({
    ask: async (sql, parameters) => db.query(sql, parameters),
    begin: async () => {},
    commit: async () => {},
    rollback: async () => {},
  })
  world.after(0, undefined, () => {
    const snapshot = async () => ({ db: read, end: async () => {} })
    void auditBooks({ read, snapshot, engine: 'sqlite' } as unknown as Store).then(
      ({ problems }) => {
        for (const problem of problems) world.blame(`the audit finds ${JSON.stringify(problem)}`)
      },
    )
  })
  world.run(world.nowMs)
  const wrong = db.query(
    `SELECT a.id, a.balance_nanos, (SELECT sum(e.amount_nanos) FROM entries e WHERE e.account_id = a.id
       AND e.kind NOT IN ('hold', 'release')) AS entries_nanos FROM accounts a
     WHERE a.balance_nanos <> entries_nanos`,
  ).rows
  for (const row of wrong) world.blame(`a balance is not the sum of its entries: ${shown(row)}`)
  for (const { engine, name, cluster } of gateways) {
    if (engine === undefined || cluster !== undefined) continue
    for (const { id } of books.accounts) {
      const { balanceNanos, callHoldsNanos, taskHoldsNanos } = engine.ledger.funds(id)
      const [row] = db.query<{ balance_nanos: bigint }>(
        'SELECT balance_nanos FROM accounts WHERE id = ?',
        [id],
      ).rows
      const isSame = row?.balance_nanos === balanceNanos
      if (isSame && callHoldsNanos === 0n && taskHoldsNanos === 0n) continue
      const memory = { balanceNanos, callHoldsNanos, taskHoldsNanos }
      world.blame(`${name} remembers ${shown(memory)} of ${id}, which has ${row?.balance_nanos}`)
    }
  }
}

/** Once per ref, in the amount that was asked for, and never unheard of by whoever was told so. */
function judgeCredits({ stage, books }: Calling): void {
  const { db, world } = stage
  for (const { ref, accountId, amountNanos, answer } of books.credits) {
    const { rows } = db.query<{ account_id: string; amount_nanos: bigint }>(
      'SELECT account_id, amount_nanos FROM entries WHERE ref = ?',
      [ref],
    )
    const [row] = rows
    if (rows.length > 1) world.blame(`${ref} was booked ${rows.length} times`)
    if (row !== undefined && (row.amount_nanos !== amountNanos || row.account_id !== accountId)) {
      world.blame(`${ref} was booked as ${shown(row)}`)
    }
    const isTold = answer === 'done' || answer === 'repeated'
    if (isTold && row === undefined)
      world.blame(`${ref} was answered with ${answer} and is not there`)
  }
}
