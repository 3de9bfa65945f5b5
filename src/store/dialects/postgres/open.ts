// The PostgreSQL dialect: a pool for transactions and reads, a dedicated connection for the hot
// batches so that no report delays them, and one for this gateway's presence.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { SteadyClock } from '../../../lib/clock.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
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
import { KnownNames } from './known-names.ts'
import { Lanes } from './lanes.ts'
import { Presence } from './presence.ts'
import { readClock } from './read-clock.ts'
import { Sockets } from './sockets.ts'
import { transactionsOf } from './transactions.ts'

export interface PostgresOptions {
  databaseUrl: string
  /** Schema version to migrate to; absent: the newest. */
  schema?: number | undefined
  join: boolean
  log: Log
  logIndexer: LogIndexerLimits
}

/** Plus the hot connection and the presence connection: ten, and two more when rows are locked. */
const maxConnections = 8
const maxAsideConnections = 2
const commitQueryTimeoutMs = 5000
/** A batch locks accounts and then leases: twice this still does not indicate a silent database. */
const commitLockTimeoutMs = 300
/** Callers wait for this connection. */
const commitConnectTimeoutMs = 2000
/** The best of these sets the clock; later readings improve it. */
const firstReadings = 3
/** At least. With the server's usual 4 MB a page of sums is sorted on disk, which takes three times as long. */
const reportMemory = '16MB'

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { databaseUrl, log } = options
  const address = addressOf(databaseUrl)
  const [sockets, commitSockets] = [new Sockets(), new Sockets()]
  const pool = openPool(
    {
      ...{ ...clientConfig(databaseUrl), ...bounded, max: maxConnections, stream: sockets.stream },
      // Not with the start of the connection: poolers refuse what they do not know there.
      onConnect: (client) => client.query(raisedMemory),
    },
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
      // The server ends it soon after: no row may appear after the log indexer has passed it.
      statement_timeout: commitQueryTimeoutMs + 1_000,
      connectionTimeoutMillis: commitConnectTimeoutMs,
      stream: commitSockets.stream,
    },
    log,
  )
  const db = kyselyOver(pool, log)
  const asideDb = kyselyOver(asidePool, log)
  const clock = new SteadyClock()
  const health = new Health(
    () => presence?.write() ?? setMeta(db, 'probe', String(clock.nowMs())),
    log,
  )
  let isOpen = false
  // A failure while opening ends the start-up and is reported there.
  const failed = (error: unknown) => {
    if (isOpen) health.failed(error)
  }
  const places = new FairSemaphore({
    ...{ concurrency: maxAsideConnections, queue: Infinity, queuePerKey: Infinity },
  })
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
  const names = new KnownNames()
  const lanes = new Lanes({
    pool: asidePool,
    places,
    gatewayId,
    names,
    nowMs: clock.nowMs,
    wrote: (records) => index.recorded(records),
  })
  const unanswered = (what: string, ms: number) =>
    failed(new Error(`${what} has had no answer from the database for ${ms} ms`))
  const doubt = new Doubt()
  const heartbeat = new Heartbeat({
    ask: () => presence?.ask(),
    slow: (ms, limitMs) => {
      doubt.begin()
      log('warn', `the database is slow: ${heartbeatQuery} for ${ms} ms; limit ${limitMs} ms`)
    },
    answered: (ms) => {
      doubt.end()
      log('info', `the database answered the heartbeat query after ${ms} ms`)
    },
    silent: (ms) => {
      unanswered('the heartbeat query', ms)
      doubt.end()
      // Waiting transactions fail now; a charge in flight may still get its reply.
      sockets.cut()
    },
    slowBatch: (what, ms) => log('warn', `the database is slow: ${what} waits for ${ms} ms`),
    stuck: unanswered,
    lost: () => {
      commitSockets.cut()
      presence?.cut()
    },
  })
  const closeConnections = async () => {
    heartbeat.stop()
    doubt.end()
    await presence?.leave()
    health.stop()
    await Promise.allSettled([db.destroy(), asideDb.destroy(), commitPool.end()])
  }

  try {
    await migrateOnce(databaseUrl, address.name, options.schema)
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
    names,
    nowMs: clock.nowMs,
    lanes,
    during: (what, work) => heartbeat.during(what, work),
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
    record: (call) => queue.add(call),
    commits: queue.commits,
    snapshot: () => snapshotOf(databaseUrl),
    get healthy() {
      return health.healthy
    },
    get doubt() {
      return doubt.over
    },
    close: once(async () => {
      await index.stop()
      await queue.close()
      await clockKeeper.stop()
      await closeConnections()
    }),
  }
}

/** A server may have been given more. */
const raisedMemory = `SELECT set_config('work_mem', '${reportMemory}', false)
  WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('${reportMemory}')`

const heartbeatQuery = 'no answer to the heartbeat query'

/** While the database has not answered for longer than usual, new work waits for what comes of it. */
class Doubt {
  #resolvers: PromiseWithResolvers<void> | undefined

  get over(): Promise<void> | undefined {
    return this.#resolvers?.promise
  }

  begin(): void {
    this.#resolvers ??= Promise.withResolvers<void>()
  }

  end(): void {
    this.#resolvers?.resolve()
    this.#resolvers = undefined
  }
}

/** Uses a dedicated connection: a long snapshot must not occupy one of the shared pool. */
async function snapshotOf(databaseUrl: string) {
  const pool = openPool({ ...clientConfig(databaseUrl), max: 1 }, () => {})
  let connections = 0
  pool.on('connect', () => connections++)
  const db = kyselyOver(pool)
  const end = async () => {
    await db.destroy()
    // The pool replaces a lost connection, but the new one sees another moment.
    if (connections > 1) throw new Error('the connection of a snapshot was lost')
  }
  try {
    await pool.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  } catch (error) {
    await db.destroy()
    throw error
  }
  return { db, end }
}

/** A migration step has no time limit and waits for a gateway that is already running it. */
async function migrateOnce(
  databaseUrl: string,
  name: string,
  schema: number | undefined,
): Promise<void> {
  const db = kyselyOver(openPool({ ...clientConfig(databaseUrl), max: 1 }, () => {}))
  const tx: Store['tx'] = (work) => db.transaction().execute(work)
  await migrate({ dialect: 'postgres', name, tx }, schema).finally(() => db.destroy())
}

/** Statements that take so long are named in the log. */
const slowStatementMs = 2_000
const maxStatementText = 200

const kyselyOver = (pool: pg.Pool, log: Log = () => {}): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    plugins: [integerPlugin],
    log({ query, queryDurationMillis: ms }) {
      if (ms < slowStatementMs) return
      const text = query.sql.replaceAll(/\s+/g, ' ').slice(0, maxStatementText)
      log('warn', `a statement took ${Math.round(ms)} ms: ${text}`)
    },
  })

function openPool(config: pg.PoolConfig, log: Log): pg.Pool {
  const pool = new pg.Pool(config)
  // An idle connection that the server closed is replaced at the next use.
  pool.on('error', (error) => log('warn', `a database connection was lost: ${error.message}`))
  // A connection lost in use fails its query; without a listener the error would also be unhandled.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
