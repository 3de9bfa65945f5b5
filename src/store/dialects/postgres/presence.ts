// This gateway's presence among those that share the database: a dedicated connection whose
// advisory lock shows that the gateway is alive, and over which gateways exchange notices. When a
// gateway dies its lock is released, and the first gateway to notice returns its leased credit.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type SteadyClock, stepMs } from '../../../lib/clock.ts'
import { newShortId } from '../../../lib/crypto/ids.ts'
import { evictGateway } from '../../ledger/credit-leases.ts'
import { isGateway } from '../../maintenance/gateways.ts'
import type { Cluster, Log, Notice, Store } from '../../store.ts'
import { messageOf } from '../health.ts'
import { clientConfig, pause } from './connection.ts'
import { readClock } from './read-clock.ts'
import { Sockets } from './sockets.ts'

/** Arbitrary, but no release may change it. */
const clusterLock = 7_203_114_502
const channel = 'model_gateway'
const reconnectEveryMs = 250
const connectTimeoutMs = 2000
/** An undelivered notice is a change that is not in force: it is sent again. */
const publishPausesMs = [50, 200, 500, 1000, 2000]
/** A gateway that lost its connection together with ours may be alive and reconnect first. */
const graceMs = 3000
/** Upper limit for taking over the work of a dead gateway. */
const sweepEveryMs = 10_000

interface PresenceOptions {
  databaseUrl: string
  pool: pg.Pool
  tx: Store['tx']
  failed: (error: unknown) => void
  log: Log
  clock: SteadyClock
}

export class Presence implements Cluster {
  readonly gatewayId = newShortId('gwy')
  /** Above every constant lock key. */
  readonly #lockKey = 2 ** 41 + randomBytes(5).readUIntBE(0, 5)
  readonly #options: PresenceOptions
  readonly #listeners: ((notice: Notice) => void)[] = []
  readonly #sockets = new Sockets()
  #client: pg.Client | undefined
  #sweepFromMs = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #sweeping: Promise<void> | undefined
  #closed = false

  constructor(options: PresenceOptions) {
    this.#options = options
  }

  get here(): boolean {
    return this.#client !== undefined
  }

  async join(): Promise<void> {
    await this.#connect()
    this.#timer = setInterval(() => void this.sweep(), sweepEveryMs)
    this.#timer.unref()
    await this.sweep()
  }

  subscribe(listener: (notice: Notice) => void): void {
    this.#listeners.push(listener)
  }

  publish(notice: Notice): void {
    void this.#publish(JSON.stringify({ ...notice, from: this.gatewayId }))
  }

  async #publish(text: string): Promise<void> {
    for (const pauseMs of [...publishPausesMs, undefined]) {
      try {
        await this.#options.pool.query('SELECT pg_notify($1, $2)', [channel, text])
        return
      } catch (error) {
        if (pauseMs === undefined || this.#closed) {
          this.#options.log('warn', `a notice was not sent: ${messageOf(error)}`)
          return
        }
        await pause(pauseMs)
      }
    }
  }

  /** Reads the database's clock over a connection that nothing else can block. */
  ask(): Promise<unknown> | undefined {
    return this.#client && this.#askTime(this.#client)
  }

  async #askTime(client: pg.Client): Promise<void> {
    const { clock, log } = this.#options
    const byMs = await readClock(client, clock)
    if (Math.abs(byMs) <= stepMs) return
    log('error', `the clock of the database was set by ${Math.round(byMs / 1000)} s`)
  }

  /** Fails while this gateway is not registered, or nothing can be written. */
  async write(): Promise<void> {
    const client = this.#client
    if (client === undefined) throw new Error('the others cannot see this gateway')
    const values = ['probe', String(this.#options.clock.nowMs())]
    await client.query(
      'INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2',
      values,
    )
  }

  /** Drops the connection; a new one is opened at once. */
  cut(): void {
    this.#sockets.cut()
  }

  /** One sweep at a time; concurrent callers wait for the running one. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error) => this.#options.log('warn', `dead gateways stay: ${messageOf(error)}`))
      .finally(() => {
        this.#sweeping = undefined
      })
    return this.#sweeping
  }

  /** A gateway without a lock is dead: the sweep removes it. */
  async lives(gatewayId: string): Promise<boolean> {
    await this.sweep()
    return this.#options.tx((tx) => isGateway(tx, gatewayId))
  }

  async withLock<T>(work: () => Promise<T>): Promise<T> {
    const client = await connected(this.#options.databaseUrl)
    try {
      await client.query(`SELECT pg_advisory_lock(${clusterLock})`)
      return await work()
    } finally {
      await client.end().catch(() => {})
    }
  }

  async tryLock<T>(lock: number, work: () => Promise<T>): Promise<T | undefined> {
    const client = await connected(this.#options.databaseUrl)
    try {
      const tried = await client.query('SELECT pg_try_advisory_lock($1) AS got', [lock])
      return tried.rows[0]?.got === true ? await work() : undefined
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** Returns what is left in its credit leases. */
  async leave(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#sweeping
    if (this.here) {
      await this.#options
        .tx((tx) => evictGateway(tx, this.gatewayId))
        .catch((error) => this.#options.log('warn', `credit stays drawn: ${messageOf(error)}`))
    }
    await this.#hangUp()
  }

  /** Takes the lock before it inserts the row: a row without its lock may be evicted. */
  async #connect(): Promise<void> {
    const client = await connected(this.#options.databaseUrl, {
      stream: this.#sockets.stream,
      connectionTimeoutMillis: connectTimeoutMs,
    })
    try {
      // A server that hears nothing from a dead machine releases the lock within 25 s.
      await client.query(
        'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3',
      )
      await client.query(endFormer, [this.#lockKey])
      await client.query('SELECT pg_advisory_lock($1)', [this.#lockKey])
      // From here on it waits for no lock: a wait would look like a silent database.
      await client.query(`LISTEN ${channel}; SET lock_timeout = 500`)
      const { rowCount } = await client.query(
        'INSERT INTO gateways (id, lock_key, started_at_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
        [this.gatewayId, this.#lockKey, this.#options.clock.nowMs()],
      )
      client.on('notification', ({ payload }) => this.#reply(payload ?? ''))
      client.once('end', () => void this.#again())
      this.#client = client
      // Its row is new: at the first start nothing was leased, later all of it has been returned.
      if (rowCount === 1) this.#say({ kind: 'evicted' })
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
  }

  async #again(): Promise<void> {
    this.#client = undefined
    if (this.#closed) return
    const { failed, log } = this.#options
    failed(new Error('the connection that says this gateway lives was lost'))
    let said = false
    while (!this.#closed && !this.here) {
      await pause(reconnectEveryMs * (0.5 + Math.random() / 2))
      try {
        this.#sweepFromMs = performance.now() + graceMs
        await this.#connect()
        // Notices may have been missed.
        this.#say({ kind: 'changed' })
      } catch (error) {
        if (!said) log('warn', `the database cannot be reached: ${messageOf(error)}`)
        said = true
      }
    }
    if (this.#closed) await this.#hangUp()
  }

  async #hangUp(): Promise<void> {
    await this.#client?.end().catch(() => {})
  }

  async #sweep(): Promise<void> {
    const client = this.#client
    if (client === undefined || performance.now() < this.#sweepFromMs) return
    const { rows } = await client.query<{ id: string; lock_key: bigint }>(
      'SELECT id, lock_key FROM gateways WHERE id <> $1',
      [this.gatewayId],
    )
    for (const { id, lock_key: key } of rows) {
      const tried = await client.query('SELECT pg_try_advisory_lock($1) AS got', [key])
      if (tried.rows[0]?.got !== true) continue
      try {
        await this.#options.tx((tx) => evictGateway(tx, id))
        this.#options.log('info', `gateway ${id} is gone; what it had drawn was given back`)
        // It may have died between a change and the notice about it.
        this.publish({ kind: 'changed' })
        this.#say({ kind: 'changed' })
      } finally {
        await client.query('SELECT pg_advisory_unlock($1)', [key])
      }
    }
  }

  #reply(payload: string): void {
    const { from, ...notice } = JSON.parse(payload) as Notice & { from: string }
    if (from !== this.gatewayId) this.#say(notice as Notice)
  }

  #say(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}

/** An earlier session of this gateway that the server still considers alive would keep the lock. */
const endFormer = `
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32) + objid::bigint = $1::bigint`

async function connected(databaseUrl: string, more: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(databaseUrl), ...more })
  // Without a listener, a connection that dies would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
