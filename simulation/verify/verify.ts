// Verifies a world that has ended: compares the database with what the upstream really did, what callers were
// answered and what receivers got.
import { auditBooks } from '../../src/billing/proof/audit.ts'
import type { Store } from '../../src/store/store.ts'
import type { Calling } from '../callers/calling.ts'
import type { Surroundings } from '../gateway/gateway.ts'
import { openBatches, verifyBatches } from './batches.ts'
import { verifyBills, verifyRefunds } from './books.ts'
import { verifyCallbacks } from './callbacks.ts'
import { shown } from './check-commit.ts'
import { verifyCallCosts, verifyMargins } from './costs.ts'
import { readNow } from './read-now.ts'
import { verifyTasks } from './tasks.ts'
import { verifyText } from './text.ts'
import { verifyTimelines } from './timelines.ts'
import { openUpstreamWork, verifyUpstreamWork } from './upstream-work.ts'

/** Due by all clocks of the world. */
const skewMs = 30_000

/** What has not ended yet. */
export function openEnds(calling: Calling, around: Surroundings): string[] {
  const { context, records, gateways } = calling
  if (records.waiting > 0) return [`${records.waiting} callers wait`]
  if (!gateways.every(({ ready }) => ready)) return ['a gateway is not up']
  const writing = records.accounts.some(({ id }) =>
    gateways.some(({ engine }) => {
      const funds = engine?.ledger.funds(id)
      return funds !== undefined && (funds.pending > 0 || funds.stale)
    }),
  )
  if (writing) return ['a write is on its way']
  const { db, world } = context
  if (gateways.some(({ disk }) => disk.owedTo(db).length > 0)) return ['records are journaled only']
  const live = db.query<{ id: string; state: string }>(
    `SELECT id, state FROM tasks WHERE state IN ('accepted', 'unknown', 'queued', 'running') LIMIT 5`,
  ).rows
  if (live.length > 0) return live.map(({ id, state }) => `task ${id} is ${state}`)
  const running = openBatches(calling)
  if (running.length > 0) return running
  const due = db.query<{ id: string; task_id: string }>(
    `SELECT id, task_id FROM callbacks WHERE state = 'waiting' AND next_at_ms <= ? LIMIT 5`,
    [world.wallMs(undefined) + skewMs],
  ).rows
  if (due.length > 0) return due.map(({ task_id }) => `the callback of ${task_id} is not delivered`)
  const kept = db.query(
    'SELECT id, held_nanos, leased_nanos FROM accounts WHERE held_nanos <> 0 OR leased_nanos <> 0',
  ).rows
  if (kept.length > 0) return kept.map((row) => `money is held or drawn: ${shown(row)}`)
  const [bare] = db.query<{ count: number }>(
    `SELECT count(*) AS count FROM entries e LEFT JOIN receipts r ON r.entry_id = e.id
     WHERE r.entry_id IS NULL AND e.kind NOT IN ('hold', 'release')`,
  ).rows
  return bare!.count > 0
    ? [`${bare!.count} entries have no receipt`]
    : openUpstreamWork(calling, around)
}

export function verifyWorld(calling: Calling, around: Surroundings): void {
  const { context } = calling
  verifyBalances(calling)
  verifyCredits(calling)
  verifyTasks(calling, around.upstreamWire.upstream)
  verifyTimelines(calling)
  verifyText(calling, around.upstreamWire.upstream)
  verifyUpstreamWork(calling, around.upstreamWire.upstream)
  verifyCallbacks(calling, around.receivers)
  verifyCosts(calling, around)
  verifyBatches(calling, around.upstreamWire.upstream)
  verifyRefunds(calling)
  verifyBills(calling)
  context.world.note(`verified: ${context.world.violations.length} violations`)
}

/** Of text calls, and of all. */
function verifyCosts(calling: Calling, { upstreamWire }: Surroundings): void {
  const prompts = new Map<string, string>()
  for (const { kind, prompt, requestIds } of calling.records.inputs) {
    if (kind === 'text') for (const id of requestIds) prompts.set(id, prompt)
  }
  verifyCallCosts(calling, upstreamWire.upstream, (requestId) => prompts.get(requestId))
  verifyMargins(calling)
}

/** The gateway's own audit, and the sums again without it. */
function verifyBalances(calling: Calling): void {
  const { world, db } = calling.context
  readNow(calling.context, async (read) => {
    const snapshot = async () => ({ db: read, end: async () => {} })
    const clock = { nowMs: () => world.wallMs(undefined) }
    const store = { read, snapshot, clock, dialect: 'sqlite' } as unknown as Store
    const { problems } = await auditBooks(store)
    for (const problem of problems) world.addViolation(`the audit finds ${JSON.stringify(problem)}`)
  })
  const wrong = db.query(
    `SELECT a.id, a.balance_nanos, (SELECT sum(e.amount_nanos) FROM ledger e WHERE e.account_id = a.id
       AND e.kind NOT IN ('hold', 'release')) AS entries_nanos FROM accounts a
     WHERE a.balance_nanos <> entries_nanos`,
  ).rows
  for (const row of wrong)
    world.addViolation(`a balance is not the sum of its entries: ${shown(row)}`)
  verifyMemory(calling)
}

/** A single gateway remembers exactly what is stored. */
function verifyMemory({ context, gateways, records }: Calling): void {
  const { world, db } = context
  for (const { engine, name, cluster } of gateways) {
    if (engine === undefined || cluster !== undefined) continue
    for (const { id } of records.accounts) {
      const { balanceNanos, callHoldsNanos, taskHoldsNanos } = engine.ledger.funds(id)
      const [row] = db.query<{ balance_nanos: bigint }>(
        'SELECT balance_nanos FROM accounts WHERE id = ?',
        [id],
      ).rows
      const isSame = row?.balance_nanos === balanceNanos
      if (isSame && callHoldsNanos === 0n && taskHoldsNanos === 0n) continue
      const memory = { balanceNanos, callHoldsNanos, taskHoldsNanos }
      world.addViolation(
        `${name} remembers ${shown(memory)} of ${id}, which has ${row?.balance_nanos}`,
      )
    }
  }
}

/** Once per ref, in the requested amount, and never missing after a positive reply. */
function verifyCredits({ context, records }: Calling): void {
  const { db, world } = context
  for (const { ref, accountId, amountNanos, answer } of records.credits) {
    const { rows } = db.query<{ account_id: string; amount_nanos: bigint }>(
      'SELECT account_id, amount_nanos FROM entries WHERE ref = ?',
      [ref],
    )
    const [row] = rows
    if (rows.length > 1) world.addViolation(`${ref} was credited ${rows.length} times`)
    if (row !== undefined && (row.amount_nanos !== amountNanos || row.account_id !== accountId)) {
      world.addViolation(`${ref} was credited as ${shown(row)}`)
    }
    const isConfirmed = answer === 'done' || answer === 'repeated'
    if (isConfirmed && row === undefined)
      world.addViolation(`${ref} was answered with ${answer} and is missing`)
  }
}
