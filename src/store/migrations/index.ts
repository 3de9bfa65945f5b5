// Brings a database to the newest schema, one transaction per step, and a new one in one transaction: a kill
// at any point leaves the step done with its version row, or not begun. Knows nothing of what a step changes.
import { type Kysely, sql } from 'kysely'
import { crashPoint } from '../../lib/crash-point.ts'
import { StoreRefused } from '../dialects/errors.ts'
import type { Dialect, Schema } from '../schema.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import { firstTables } from './0001-first-tables.ts'
import { taskTables } from './0002-tasks.ts'
import { manyGateways } from './0003-many-gateways.ts'
import { callbackTables } from './0004-callbacks.ts'
import { proofTables } from './0005-proof.ts'
import { logTables } from './0006-log.ts'
import { peopleTables } from './0007-people.ts'
import { trailColumns } from './0008-trail.ts'
import { exportTables } from './0009-exports.ts'
import { auditPlaces } from './0010-audit-places.ts'
import { tokenBounds } from './0011-token-bounds.ts'
import { closedUntil } from './0012-closed-until.ts'
import { callbackSecrets } from './0013-callback-secrets.ts'
import { shortAccounts } from './0014-short-accounts.ts'
import { plainNames } from './0015-plain-names.ts'
import { plainStates } from './0016-plain-states.ts'
import { shortClaims } from './0017-short-claims.ts'
import { tokenTranslation } from './0018-token-translation.ts'
import { invitationTable } from './0019-invitations.ts'
import { tagTables } from './0020-tags.ts'
import { oidcSignIns } from './0021-oidc.ts'
import { budgetTables } from './0022-budgets.ts'
import { servedModel } from './0023-served-model.ts'
import { noticeTables } from './0024-notices.ts'
import { trafficTokens } from './0025-traffic-tokens.ts'
import { resolvedBy } from './0026-resolved-by.ts'
import { logFacts } from './0027-log-facts.ts'
import { billLinks } from './0028-bill-links.ts'
import { dailyTotals } from './0029-daily-totals.ts'
import { actorKindsOfLog } from './0031-actor-kinds.ts'
import { totalNames } from './0032-total-names.ts'
import { callRows } from './0033-call-rows.ts'
import { serviceTier } from './0034-service-tier.ts'
import { dataPolicy } from './0040-data-policy.ts'
import { refunds } from './0045-refunds.ts'
import { codeTable } from './0046-codes.ts'
import { profileColumns } from './0047-profiles.ts'
import { priceAuthors } from './0048-price-authors.ts'
import { costColumns } from './0050-costs.ts'
import { batchTables } from './0051-batches.ts'
import { taskTexts } from './0052-task-texts.ts'
import { revokedSecrets } from './0053-revoked-secrets.ts'
import { billMails } from './0054-bill-mails.ts'
import { batchParts } from './0055-batch-parts.ts'
import { channelMonths } from './0056-channel-months.ts'
import { clientRetries } from './0057-client-retries.ts'
import { channelTotals } from './0059-channel-totals.ts'
import { acknowledgedAlerts } from './0062-acknowledged-alerts.ts'
import { phoneColumn } from './0078-phone.ts'
import { sortedLists } from './0087-sorted-lists.ts'
import { recurredAlerts } from './0088-recurred-alerts.ts'
import { overallTotals } from './0089-overall-totals.ts'
import { finishReceipts } from './finish-receipts.ts'
import type { Migration } from './migration.ts'

export const migrations: readonly Migration[] = [
  firstTables,
  taskTables,
  manyGateways,
  callbackTables,
  proofTables,
  logTables,
  peopleTables,
  trailColumns,
  exportTables,
  auditPlaces,
  tokenBounds,
  closedUntil,
  callbackSecrets,
  shortAccounts,
  plainNames,
  plainStates,
  shortClaims,
  tokenTranslation,
  invitationTable,
  tagTables,
  oidcSignIns,
  budgetTables,
  servedModel,
  noticeTables,
  trafficTokens,
  resolvedBy,
  logFacts,
  billLinks,
  dailyTotals,
  actorKindsOfLog,
  totalNames,
  callRows,
  serviceTier,
  dataPolicy,
  refunds,
  codeTable,
  profileColumns,
  priceAuthors,
  costColumns,
  batchTables,
  taskTexts,
  revokedSecrets,
  billMails,
  batchParts,
  channelMonths,
  clientRetries,
  channelTotals,
  acknowledgedAlerts,
  phoneColumn,
  sortedLists,
  recurredAlerts,
  overallTotals,
]

export const newestKnown = Math.max(...migrations.map((migration) => migration.version))

interface Target {
  dialect: Dialect
  /** Display name of the file or database. */
  name: string
  tx<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T>
}

/** Arbitrary, but no release may change it. */
const migrationLock = 7_203_114_501

export async function migrate(target: Target, upTo = newestKnown): Promise<void> {
  const wanted = migrations.filter(({ version }) => version <= upTo)
  let version = await target.tx(async (tx) => {
    const found = await readVersion(tx, target)
    // A new database is made at once: there is nothing that a step could be waiting for.
    return found === 0 ? applySteps(tx, target, wanted) : found
  })
  for (const migration of wanted) {
    if (migration.version <= version) continue
    version = await target.tx(async (tx) => {
      // Read again inside: another gateway may have applied the step while this one waited.
      if ((await readVersion(tx, target)) >= migration.version) return migration.version
      if (migration.isAlone) await refuseOthers(tx, target)
      return applySteps(tx, target, [migration])
    })
  }
  if (version < callRows.version) return
  const isFinished = () =>
    target.tx(async (tx) => {
      await readVersion(tx, target)
      return finishReceipts(tx)
    })
  while (!(await isFinished()));
}

/** Gateways that run hold a lock each; one that was killed does not. */
async function refuseOthers(tx: Kysely<Schema>, { dialect, name }: Target): Promise<void> {
  if (dialect === 'sqlite') return
  const { rows } = await sql<{ id: string }>`
    SELECT g.id FROM gateways g JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 1
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (l.classid::bigint << 32) + l.objid::bigint = g.lock_key
    ORDER BY g.id`.execute(tx)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id).join(', ')
  throw new StoreRefused(
    `${name} is in use by gateways of an older version (${ids}), which cannot share it with this ` +
      'one; stop them, then start again.',
  )
}

/** Gives the version that it has then. */
async function applySteps(
  tx: Kysely<Schema>,
  { dialect }: Target,
  steps: readonly Migration[],
): Promise<number> {
  const { version } = steps.at(-1)!
  for (const { up } of steps) {
    for (const statement of up(dialect)) {
      await sql.raw(statement).execute(tx)
      crashPoint('schema-step')
    }
  }
  await setMeta(tx, 'schema_version', String(version))
  return version
}

async function readVersion(tx: Kysely<Schema>, target: Target): Promise<number> {
  if (target.dialect === 'postgres') {
    await sql`SELECT pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx)
    const found = await sql<{
      name: string | null
    }>`SELECT to_regclass('meta')::text AS name`.execute(tx)
    if (found.rows[0]?.name === null) await createMeta(tx, '')
  } else {
    await createMeta(tx, ' STRICT')
  }
  const version = Number((await getMeta(tx, 'schema_version')) ?? '0')
  if (version > newestKnown) {
    throw new StoreRefused(
      `${target.name} was written by a newer gateway (schema ${version}, this one knows ` +
        `${newestKnown}); start that version, or restore a backup made before the upgrade.`,
    )
  }
  return version
}

const createMeta = (tx: Kysely<Schema>, strict: string) =>
  sql
    .raw(
      `CREATE TABLE IF NOT EXISTS meta (
         key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)${strict}`,
    )
    .execute(tx)
