// Checks the database: reachable, its schema version, made with this master key, in this currency.
import type { Config } from '../../config/index.ts'
import { createSeal, type Seal } from '../../lib/crypto/seal.ts'
import { keysThere } from '../../start/keys.ts'
import { StoreRefused } from '../../store/index.ts'
import { restoringKey } from '../../store/maintenance/backup.ts'
import { type Inspection, inspectStore } from '../../store/maintenance/inspect.ts'
import { newestKnown } from '../../store/migrations/index.ts'
import { getMeta } from '../../store/sql/meta.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

interface InspectedDatabase {
  findings: readonly Finding[]
  /** Reachable, with the schema that this gateway knows. */
  usable?: Inspection
  /** Absent when there is no key yet, or not the right one. */
  seal?: Seal
  /** The time of its server. */
  nowMs?: number
  end(): Promise<void>
}

const connectionsPerWorker = 11

export async function checkDatabase(config: Config): Promise<InspectedDatabase> {
  const { dataDir, databaseUrl } = config
  const end = async () => {}
  let found: Inspection | undefined
  try {
    found = await inspectStore({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) })
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error
    return { findings: [refused(error.message)], end }
  }
  const seal = sealOf(config)
  const key = await checkKey(found, seal)
  const fits = seal && key.state === 'ok' && { seal }
  if (found === undefined) {
    const fresh = ok('database', `none yet in ${dataDir}; the first start makes it`)
    return { findings: [fresh, key], ...fits, end }
  }
  const findings = [
    ...checkSchema(found),
    ...checkServer(found, config.workers),
    key,
    ...(await checkBooks(found, config.file.currency)),
  ]
  return {
    findings,
    ...(found.schema === newestKnown && { usable: found }),
    ...fits,
    ...(found.server && { nowMs: found.server.nowMs }),
    end: found.end,
  }
}

/** The message has its advice after the semicolon. */
function refused(message: string): Finding {
  const [says = message, advice = 'see docs/run/operations.md'] = message.split('; ', 2)
  return problem('database', says, advice.replace(/\.$/, ''))
}

function checkSchema({ name, version, schema }: Inspection): Finding[] {
  if (schema === newestKnown) return [ok('database', `${name}, ${version}, schema ${schema}`)]
  if (schema === 0) return [ok('database', `${name}, ${version}, empty; the first start fills it`)]
  if (schema > newestKnown) {
    return [
      problem(
        'database',
        `${name} has schema ${schema}, this gateway knows ${newestKnown}: a newer one has used it`,
        'start that version, or restore a backup made before the upgrade',
      ),
    ]
  }
  return [
    warning(
      'database',
      `${name} has schema ${schema}; the next start brings it to ${newestKnown}, and there is no way back`,
      'take a backup first: gateway backup FILE, with the version that runs now',
    ),
  ]
}

function checkServer({ name, server, schema }: Inspection, workers: number): Finding[] {
  if (server === undefined) return []
  const findings: Finding[] = []
  const needed = connectionsPerWorker * workers
  if (server.maxConnections < needed * 2) {
    const says = `${name} takes ${server.maxConnections} connections; this gateway alone may need ${needed}`
    findings.push(warning('database', says, 'raise max_connections, or have fewer workers'))
  }
  if (!server.mayCreateTables && schema < newestKnown) {
    const says = `the user of ${name} may not create tables, and the next start must`
    findings.push(problem('database', says, 'GRANT CREATE ON SCHEMA public TO that user'))
  }
  return findings
}

function sealOf(config: Config): Seal | undefined {
  const { masterKey } = keysThere(config)
  return masterKey === undefined ? undefined : createSeal(masterKey)
}

async function checkKey(found: Inspection | undefined, seal: Seal | undefined): Promise<Finding> {
  const isUsed = found !== undefined && found.schema > 0
  const stored = isUsed ? await getMeta(found.read, 'master_key_check') : undefined
  if (stored === undefined) {
    const says = seal === undefined ? 'will be made at the first start' : 'there is one'
    return ok('master key', `${says}; nothing is sealed with it yet`)
  }
  if (stored === seal?.hash('master key check')) return ok('master key', 'fits the database')
  return problem(
    'master key',
    seal === undefined ? 'there is none' : 'is not the one this database was made with',
    'bring the right one back: GATEWAY_MASTER_KEY, or master.key in the data directory; it cannot be made anew',
  )
}

async function checkBooks({ read, schema }: Inspection, currency: string): Promise<Finding[]> {
  if (schema === 0) return []
  const findings: Finding[] = []
  const stored = await getMeta(read, 'currency')
  if (stored !== undefined && stored !== currency) {
    const says = `the file says ${currency}, the accounts are in ${stored}`
    findings.push(problem('currency', says, `set currency: ${stored} in the configuration file`))
  }
  if ((await getMeta(read, restoringKey)) !== undefined) {
    const says = 'a restore into this database was broken off'
    findings.push(problem('database', says, 'make the database anew and restore again'))
  }
  return findings
}
