// The PostgreSQL engine: a pool for transactions and reads, one connection of its own for the hot
// batches so that no report can keep them waiting, and one that says that this gateway lives.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { SteadyClock } from '../../../lib/clock.ts'
import { indexNextSegment, LogIndexer, type LogIndexerLimits } from '../../log/indexer.ts'
import { migrate } from '../../migrations/index.ts'
import type { Schema } from '../../schema.ts'
import { setMeta } from '../../sql/meta.ts'
import { type Log, once, type Store } from '../../store.ts'
import { ClockKeeper } from '../clock-keeper.ts'
import { GroupCommit } from '../group-commit.ts'
import { Health } from '../health.ts'
import { integerPlugin } from '../integers.ts'
import { isLostCreditLease } from './batch-writer.ts'
import { addressOf, bounded, clientConfig, refusalFor } from './connection.ts'
import { GroupCommitWriter } from './group-commit-writer.ts'
import { Heartbeat } from './heartbeat.ts'
import { Lanes } from './lanes.ts'
import { Presence } from './presence.ts'
import { readClock } from './read-clock.ts'
import { Semaphore } from './semaphore.ts'
import { Sockets } from './sockets.ts'
import { transactionsOf } from './transactions.ts'

export interface PostgresOptions {
  databaseUrl: string
  /** Newest schema to bring the database to; absent, the newest there is. */
  schema?: number | undefined
  join: boolean
  log: Log
  logIndexer: LogIndexerLimits
}

/** With the hot connection and the one of its presence: ten, and two more where something is locked. */
const maxConnections = 8
const maxAsideConnections = 2
const commitQueryTimeoutMs = 5000
/** A batch locks accounts and then leases: twice this is still no sign of a silent database. */
const commitLockTimeoutMs = 300
/** Callers wait for it. */
const commitConnectTimeoutMs = 2000
/** The best of these is where the clock starts; what is asked later makes it better. */
const firstReadings = 3

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { databaseUrl, log } = options
  const address = addressOf(databaseUrl)
  const [sockets, commitSockets] = [new Sockets(), new Sockets()]
  const pool = openPool(
    { ...clientConfig(databaseUrl), ...bounded, max: maxConnections, stream: sockets.stream },
    log,
  )
  const asidePool = openPool(
    { ...clientConfig(databaseUrl), ...bounded, max: maxAsideConnections, stream: sockets.stream },
    log,
  )
  const commitPool = openPool(
    {
      ...clientConfig(databaseUrl),
      ...bounded,
      lock_timeout: commitLockTimeoutMs,
      max: 1,
      query_timeout: commitQueryTimeoutMs,
      // The server gives up soon after: no row may appear when the late index has long passed it.
      statement_timeout: commitQueryTimeoutMs + 1_000,
      connectionTimeoutMillis: commitConnectTimeoutMs,
      stream: commitSockets.stream,
    },
    log,
  )
  const db = kyselyOver(pool)
  const asideDb = kyselyOver(asidePool)
  const clock = new SteadyClock()
  const health = new Health(
    () => presence?.write() ?? setMeta(db, 'probe', String(clock.nowMs())),
    log,
  )
  let isOpen = false
  // A failure while it opens ends the start, and is told there.
  const failed = (error: unknown) => {
    if (isOpen) health.failed(error)
  }
  const places = new Semaphore(maxAsideConnections)
  const tx = transactionsOf({
    db,
    health,
    failed,
    aside: { db: asideDb, places },
    isStuck: (accountId) => lanes.has(accountId),
  })
  const clockKeeper = new ClockKeeper({ tx }, clock)
  const presence = options.join
    ? new Presence({ databaseUrl, pool, tx, failed, log, clock })
    : undefined
  const isHere = () => presence === undefined || presence.here
  const gatewayId = presence?.gatewayId
  const lanes = new Lanes({
    pool: asidePool,
    places,
    gatewayId,
    nowMs: clock.nowMs,
    wrote: (records) => index.recorded(records),
  })
  const unanswered = (ms: number) => failed(new Error(`the database has not answered for ${ms} ms`))
  const heartbeat = new Heartbeat({
    ask: () => presence?.ask(),
    silent: (ms) => {
      unanswered(ms)
      // Whoever waits in a transaction hears now; a charge under way may still be answered.
      sockets.cut()
    },
    stuck: unanswered,
    lost: () => {
      commitSockets.cut()
      presence?.cut()
    },
  })
  const closeConnections = async () => {
    heartbeat.stop()
    await presence?.leave()
    health.stop()
    await Promise.allSettled([db.destroy(), asideDb.destroy(), commitPool.end()])
  }

  try {
    await migrateAlone(databaseUrl, address.name, options.schema)
    for (let reading = 0; reading < firstReadings; reading++) await readClock(pool, clock)
    await clockKeeper.start()
    await presence?.join()
    isOpen = true
    heartbeat.start()
  } catch (error) {
    await closeConnections()
    throw refusalFor(error, address)
  }

  const next = (settledSeq: number) => indexNextSegment({ dialect: 'postgres', tx }, settledSeq)
  const index = new LogIndexer({ dialect: 'postgres', tx, next, log }, options.logIndexer)
  const writer = new GroupCommitWriter({
    pool: commitPool,
    gatewayId,
    nowMs: clock.nowMs,
    lanes,
    during: (work) => heartbeat.during(work),
    interrupted: failed,
  })
  const queue = new GroupCommit(async (batch) => {
    try {
      await writer.write(batch)
      if (isHere()) health.wrote()
      index.recorded(batch.size)
    } catch (error) {
      if (!isLostCreditLease(error)) health.failed(error)
      throw error
    }
  }, lanes)

  return {
    dialect: 'postgres',
    clock,
    ...(presence !== undefined && { cluster: presence }),
    read: db,
    tx,
    record: (request, entry) => queue.add(request, entry),
    commits: queue.commits,
    snapshot: () => snapshotOf(databaseUrl),
    get healthy() {
      return health.healthy
    },
    close: once(async () => {
      await index.stop()
      await queue.close()
      await clockKeeper.stop()
      await closeConnections()
    }),
  }
}

/** On a connection of its own: a long one must not take one of those that everybody waits for. */
async function snapshotOf(databaseUrl: string) {
  const pool = openPool({ ...clientConfig(databaseUrl), max: 1 }, () => {})
  let connections = 0
  pool.on('connect', () => connections++)
  const db = kyselyOver(pool)
  const end = async () => {
    await db.destroy()
    // The pool mends what it lost, but with another moment.
    if (connections > 1) throw new Error('the connection of a snapshot was lost')
  }
  try {
    await pool.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // Before the first look: a week of the log that is dropped goes for every moment, also this one.
    await pool.query('LOCK TABLE requests IN ACCESS SHARE MODE')
  } catch (error) {
    await db.destroy()
    throw error
  }
  return { db, end }
}

/** A step may take as long as it takes, and waits for whoever takes it first. */
async function migrateAlone(
  databaseUrl: string,
  name: string,
  schema: number | undefined,
): Promise<void> {
  const db = kyselyOver(openPool({ ...clientConfig(databaseUrl), max: 1 }, () => {}))
  const tx: Store['tx'] = (work) => db.transaction().execute(work)
  await migrate({ dialect: 'postgres', name, tx }, schema).finally(() => db.destroy())
}

const kyselyOver = (pool: pg.Pool): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), plugins: [integerPlugin] })

function openPool(config: pg.PoolConfig, log: Log): pg.Pool {
  const pool = new pg.Pool(config)
  // An idle connection that the server closed is replaced at the next use.
  pool.on('error', (error) => log('warn', `a database connection was lost: ${error.message}`))
  // One that is lost in use tells whoever uses it; without a listener it would also be nobody's.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
