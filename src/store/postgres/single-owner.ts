// One gateway per database: an advisory lock on a connection of its own, taken again when that
// connection is lost. Knows nothing of tables.
import pg from 'pg'
import { messageOf } from '../health.ts'
import { StoreRefused } from '../refused.ts'
import type { Log } from '../store.ts'
import { clientConfig, pause } from './connection.ts'

/** Any constant will do as long as no release changes it. */
const ownerLock = 7_203_114_500
const patienceMs = 5000
const tryEveryMs = 250
const reconnectEveryMs = 1000

export class SingleOwner {
  readonly #databaseUrl: string
  readonly #lost: (error: unknown) => void
  readonly #log: Log
  #client: pg.Client | undefined
  #closed = false

  constructor(databaseUrl: string, lost: (error: unknown) => void, log: Log) {
    this.#databaseUrl = databaseUrl
    this.#lost = lost
    this.#log = log
  }

  get held(): boolean {
    return this.#client !== undefined
  }

  async acquire(name: string): Promise<void> {
    const untilMs = performance.now() + patienceMs
    while (!(await this.#try())) {
      if (performance.now() >= untilMs) {
        throw new StoreRefused(
          `${name} is in use by another gateway; stop it, or give this one a database of its own.`,
        )
      }
      await pause(tryEveryMs)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#client?.end().catch(() => {})
  }

  async #try(): Promise<boolean> {
    const client = new pg.Client(clientConfig(this.#databaseUrl))
    // Without a listener a connection that dies would end the process.
    client.on('error', () => {})
    try {
      await client.connect()
      // A server that hears nothing from a dead machine must let go of the lock in a minute.
      await client.query('SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10')
      const { rows } = await client.query(`SELECT pg_try_advisory_lock(${ownerLock}) AS got`)
      if (rows[0]?.got === true) {
        this.#client = client
        client.once('end', () => void this.#again())
        return true
      }
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    await client.end().catch(() => {})
    return false
  }

  async #again(): Promise<void> {
    this.#client = undefined
    if (this.#closed) return
    this.#lost(new Error('the connection that holds the database for this gateway was lost'))
    let said = false
    while (!this.#closed) {
      await pause(reconnectEveryMs)
      try {
        if (await this.#try()) break
        if (!said) this.#log('error', 'another gateway has taken over the database')
        said = true
      } catch (error) {
        if (!said) this.#log('warn', `the database cannot be reached: ${messageOf(error)}`)
        said = true
      }
    }
    if (this.#closed) await this.close()
  }
}
