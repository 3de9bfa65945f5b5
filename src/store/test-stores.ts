// For tests: temporary stores, one kind per dialect. PostgreSQL is available when TEST_POSTGRES_URL
// names a server on which databases may be created.
import { Database } from 'bun:sqlite'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Entry } from '../contract/ledger.ts'
import type { CallCharge, RequestRecord } from '../contract/requests.ts'
import { newId } from '../lib/crypto/ids.ts'
import { openStore, type Store, type StoreOptions } from './index.ts'
import { migrations } from './migrations/index.ts'
import type { Dialect } from './schema.ts'

export interface Place {
  options: StoreOptions
  open(more?: Partial<StoreOptions>): Promise<Store>
  remove(): Promise<void>
}

export const postgresUrl = process.env['TEST_POSTGRES_URL']

export const storeKinds: readonly Dialect[] =
  postgresUrl === undefined ? ['sqlite'] : ['sqlite', 'postgres']

/** `empty`: without tables, as before the first open. */
export async function newPlace(dialect: Dialect, { empty = false } = {}): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-store-'))
  if (dialect === 'sqlite' && !empty)
    copyFileSync(await templateFile(), join(dataDir, databaseFile))
  const databaseUrl = dialect === 'postgres' ? await createDatabase(empty) : undefined
  const options: StoreOptions = databaseUrl === undefined ? { dataDir } : { dataDir, databaseUrl }
  return {
    options,
    open: (more) => openStore({ ...options, ...more }),
    async remove() {
      rmSync(dataDir, { recursive: true, force: true })
      if (databaseUrl !== undefined) await dropDatabase(databaseUrl)
    },
  }
}

const databaseFile = 'gateway.db'
let templateMade: Promise<string> | undefined

/** A database with its tables, to be copied: once for a whole run, or for this process. */
const templateFile = (): Promise<string> => {
  const made = process.env['TEST_EMPTY_DATABASE']
  if (made) return Promise.resolve(made)
  templateMade ??= (async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gateway-template-'))
    process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
    return makeEmptyDatabase(dataDir)
  })()
  return templateMade
}

/** Gives the file of a database that differs from a new one only in that it has its tables. */
export async function makeEmptyDatabase(dataDir: string): Promise<string> {
  await (await openStore({ dataDir })).close()
  const file = join(dataDir, databaseFile)
  const db = new Database(file)
  db.run(withoutIdentity)
  db.close()
  return file
}

export async function onServer(statement: string, database?: string): Promise<void> {
  const url = new URL(postgresUrl!)
  if (database !== undefined) url.pathname = `/${database}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

async function createDatabase(empty: boolean): Promise<string> {
  const name = newId('gateway_test')
  await onServer(`CREATE DATABASE ${name}${empty ? '' : ` TEMPLATE ${await template()}`}`)
  return urlOf(name)
}

function urlOf(name: string): string {
  const url = new URL(postgresUrl!)
  url.pathname = `/${name}`
  return url.href
}

let templateName: Promise<string> | undefined
const template = (): Promise<string> => {
  templateName ??= makeTemplate()
  return templateName
}

/** A copy has its own time and journal: it must not look like a database that was idle for long. */
const withoutIdentity = `DELETE FROM meta WHERE key <> 'schema_version'`

/** Any constant will do. */
const templateLock = 4_711_204

/** A database with all tables, to be copied: far cheaper than every migration for every test. */
async function makeTemplate(): Promise<string> {
  const steps = migrations.flatMap(({ up }) => up('postgres')).join('\n')
  const name = `gateway_template_${Bun.hash(`${steps}${withoutIdentity}`).toString(36)}`
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [templateLock])
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (found.rowCount === 0) {
      const making = newId('gateway_test')
      await client.query(`CREATE DATABASE ${making}`)
      const store = await openStore({ dataDir: tmpdir(), databaseUrl: urlOf(making) })
      await store.close()
      await onServer(withoutIdentity, making)
      await client.query(`ALTER DATABASE ${making} RENAME TO ${name}`)
    }
    return name
  } finally {
    await client.end()
  }
}

const dropDatabase = (url: string) =>
  onServer(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`)

export function aRequest(more: Partial<RequestRecord> = {}): RequestRecord {
  const atMs = more.atMs ?? Date.now()
  return {
    requestId: newId('req', atMs),
    atMs,
    accountId: 'acc_1',
    tokenId: 'tok_1',
    interface: 'chat',
    model: 'txta-plus',
    status: 200,
    chargeNanos: 0n,
    totalMs: 3,
    detail: { stream: false, ending: 'complete', attempts: [] },
    ...more,
  }
}

export function aCharge(request: RequestRecord, nanos: bigint): Entry {
  return {
    atMs: request.atMs,
    accountId: request.accountId,
    kind: 'charge',
    amountNanos: -nanos,
    ref: request.requestId,
    model: request.model,
    unit: 'token',
    quantity: 30,
    priceId: 'price_1',
  }
}

/** The same call, charged. */
export const charged = (
  request: RequestRecord,
  nanos: bigint,
  charge: CallCharge = {},
): RequestRecord => ({
  ...request,
  chargeNanos: nanos,
  priceId: request.priceId ?? 'price_1',
  charge: { unit: 'token', quantity: 30, ...charge },
})

/** Waits for a background event; the test's own time-out is the limit. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10)
}

/** The message of the failure. `expect(…).rejects` keeps replies of other threads from arriving. */
export const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it did not fail',
    (error: Error) => error.message,
  )

/** The same numbers every time. */
export function lcg(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
