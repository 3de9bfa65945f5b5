// Durable charges per second through hold and settle, on both stores, with many accounts and with a
// single one. Refuses to know how the ledger or a store works.

import type { Charges } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { ask, note, type PartResult, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import {
  hasPostgresPrograms,
  type OwnPostgres,
  readCost,
  startBenchPostgres,
} from '../lib/postgres.ts'
import type { Options } from '../options.ts'
import type { LedgerCommand, LedgerResult } from './ledger-load.ts'
import { checkLedger, formatLedger, type LedgerFigures } from './report.ts'

const inFlights = [16, 64, 256, 1024] as const
const manyAccounts = 1000
const warmUpSeconds = 3
const openMs = 60_000

export const ledgerSeconds = (options: Options): number =>
  2 * 2 * inFlights.length * options.seconds + 2 * warmUpSeconds + (3 * openMs) / 1000

export async function runLedger(run: Run): Promise<PartResult> {
  const rows: LedgerFigures[] = []
  const charges: Charges[] = []
  const onSqlite = startLoad(run, 'ledger-sqlite')
  await runStore({ run, load: onSqlite, store: 'SQLite', rows, charges })
  await onSqlite.stop()
  if (!hasPostgresPrograms) note('ledger: left out on PostgreSQL, which is not installed')
  else {
    const postgres = await startBenchPostgres()
    try {
      const load = startLoad(run, 'ledger-postgres', postgres.url)
      await runStore({ run, load, store: 'PostgreSQL', rows, charges, postgres })
      await load.stop()
    } finally {
      await postgres.remove()
    }
  }
  return {
    setting:
      `ledger: charges through hold and settle in one process, no HTTP; ` +
      `slices of ${run.options.seconds} s`,
    tables: [formatLedger(rows)],
    verdicts: checkLedger(rows),
    charges,
    figures: { ledger: rows },
  }
}

function startLoad(run: Run, name: string, databaseUrl?: string): Child {
  const workspace = workspaceFor(run, name)
  return startProgram(
    workspace,
    'ledger/ledger-load',
    workspace.tempDir,
    ...(databaseUrl ? [databaseUrl] : []),
  )
}

interface StoreRun {
  run: Run
  load: Child
  store: LedgerFigures['store']
  rows: LedgerFigures[]
  charges: Charges[]
  postgres?: OwnPostgres
}

async function runStore({ run, load, store, rows, charges, postgres }: StoreRun): Promise<void> {
  const { seconds } = run.options
  const command = (more: LedgerCommand) =>
    ask<LedgerResult>(load, more, more.seconds * 1000 + openMs)
  for (const accounts of [manyAccounts, 1]) {
    await command({ accounts, inFlight: 64, seconds: warmUpSeconds })
    for (const inFlight of inFlights) {
      note(`ledger: ${store}, ${accounts} account(s), ${inFlight} in flight ...`)
      const before = postgres && (await readCost(postgres))
      const result = await command({ accounts, inFlight, seconds })
      const after = postgres && (await readCost(postgres))
      charges.push({ served: result.charges, charged: result.paid })
      rows.push({
        store,
        accounts,
        inFlight,
        perSecond: (result.charges * 1000) / result.elapsedMs,
        p50Ms: result.p50Ms,
        p99Ms: result.p99Ms,
        ownMicros: result.cpuMicros / result.charges,
        ...(before !== undefined &&
          after !== undefined && {
            serverMicros: (after.cpuMicros - before.cpuMicros) / result.charges,
            perCommit: result.charges / (after.commits - before.commits),
          }),
      })
    }
  }
}
