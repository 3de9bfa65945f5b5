// This gateway among those that share the database: a connection of its own, whose advisory lock
// says that it lives and over which gateways hear from each other. When one dies, its lock falls
// free, and whoever sees that first gives back what it had drawn.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { newShortId } from '../../lib/ids.ts'
import { messageOf } from '../health.ts'
import { buryGateway } from '../purses.ts'
import type { Log, Notice, Sharing, Store } from '../store.ts'
import { clientConfig, pause } from './connection.ts'

/** Any constant will do as long as no release changes it. */
const aloneLock = 7_203_114_502
const channel = 'model_gateway'
const reconnectEveryMs = 1000
/** Take-over of what a dead gateway left must not take longer. */
const sweepEveryMs = 10_000

export interface PresenceOptions {
  databaseUrl: string
  pool: pg.Pool
  tx: Store['tx']
  failed: (error: unknown) => void
  log: Log
}

export class Presence implements Sharing {
  readonly gatewayId = newShortId('gwy')
  /** Above every constant key. */
  readonly #lockKey = 2 ** 41 + randomBytes(5).readUIntBE(0, 5)
  readonly #options: PresenceOptions
  readonly #listeners: ((notice: Notice) => void)[] = []
  #client: pg.Client | undefined
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

  hear(listener: (notice: Notice) => void): void {
    this.#listeners.push(listener)
  }

  tell(notice: Notice): void {
    const text = JSON.stringify({ ...notice, from: this.gatewayId })
    this.#options.pool
      .query('SELECT pg_notify($1, $2)', [channel, text])
      .catch((error) => this.#options.log('warn', `a notice was not sent: ${messageOf(error)}`))
  }

  /** One sweep at a time; who asks meanwhile waits for the one that runs. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error) => this.#options.log('warn', `dead gateways stay: ${messageOf(error)}`))
      .finally(() => {
        this.#sweeping = undefined
      })
    return this.#sweeping
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const client = await connected(this.#options.databaseUrl)
    try {
      await client.query(`SELECT pg_advisory_lock(${aloneLock})`)
      return await work()
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** What is left in its purses goes back. */
  async leave(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#sweeping
    if (this.here) {
      await this.#options
        .tx((tx) => buryGateway(tx, this.gatewayId))
        .catch((error) => this.#options.log('warn', `credit stays drawn: ${messageOf(error)}`))
    }
    await this.#hangUp()
  }

  /** The lock comes before the row: whoever finds a row without its lock may bury the gateway. */
  async #connect(): Promise<void> {
    const client = await connected(this.#options.databaseUrl)
    try {
      // A server that hears nothing from a dead machine must let go of the lock in a minute.
      await client.query('SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10')
      await client.query('SELECT pg_advisory_lock($1)', [this.#lockKey])
      await client.query(`LISTEN ${channel}`)
      const { rowCount } = await client.query(
        'INSERT INTO gateways (id, lock_key, started_at_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
        [this.gatewayId, this.#lockKey, Date.now()],
      )
      client.on('notification', ({ payload }) => this.#heard(payload ?? ''))
      client.once('end', () => void this.#again())
      this.#client = client
      // Its row is new: at the first start nothing was drawn, later all of it has been given back.
      if (rowCount === 1) this.#say({ kind: 'buried' })
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
      await pause(reconnectEveryMs)
      try {
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
    if (client === undefined) return
    const { rows } = await client.query<{ id: string; lock_key: bigint }>(
      'SELECT id, lock_key FROM gateways WHERE id <> $1',
      [this.gatewayId],
    )
    for (const { id, lock_key: key } of rows) {
      const tried = await client.query('SELECT pg_try_advisory_lock($1) AS got', [key])
      if (tried.rows[0]?.got !== true) continue
      try {
        await this.#options.tx((tx) => buryGateway(tx, id))
        this.#options.log('info', `gateway ${id} is gone; what it had drawn was given back`)
      } finally {
        await client.query('SELECT pg_advisory_unlock($1)', [key])
      }
    }
  }

  #heard(payload: string): void {
    const { from, ...notice } = JSON.parse(payload) as Notice & { from: string }
    if (from !== this.gatewayId) this.#say(notice as Notice)
  }

  #say(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}

async function connected(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(databaseUrl))
  // Without a listener a connection that dies would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
