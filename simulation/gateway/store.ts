// The store as one simulated gateway has it: the real actions on the real tables, over a way to the
// database on which everything can happen. Each transaction is one turn of the world; its question and
// its answer travel, and the gateway may die at either end.
import type { Kysely } from 'kysely'
import { SteadyClock } from '../../src/lib/clock.ts'
import { ensure } from '../../src/lib/ensure.ts'
import { ClockKeeper } from '../../src/store/dialects/clock-keeper.ts'
import { codeOf, DatabaseError } from '../../src/store/dialects/errors.ts'
import { type Batch, GroupCommit } from '../../src/store/dialects/group-commit.ts'
import { Health } from '../../src/store/dialects/health.ts'
import { issueReceipts } from '../../src/store/proof/receipts.ts'
import type { Schema } from '../../src/store/schema.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import type { Cluster, Store } from '../../src/store/store.ts'
import { checkCommit } from '../verify/check-commit.ts'
import type { Stage } from '../world/context.ts'
import type { Proc } from '../world/world.ts'
import { kyselyOver, translate } from './database.ts'
import { writeSharedBatch, writeSingleBatch } from './write-batch.ts'

const maxTries = 5
/** Restarts here take moments, and a task has no more than a minute. */
const maxGapMs = 20_000
/** As the PostgreSQL store has them: when connections are cut, until when a batch may be run by the
 * database's clock, and when its callers hear that it was not. */
const cutAfterMs = 3_000
const batchDeadlineMs = 4_200
const giveUpMs = 4_700
const retryPausesMs = [100, 300, 700, 1300, 2000]

/** Presence among several gateways, as far as the store has to know. */
export interface Joined extends Cluster {
  readonly here: boolean
  leave(): Promise<void>
}

/** Never answered: whoever waits is no more. */
const never = <T>(): Promise<T> => new Promise(() => {})

export class SimStore implements Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** Several gateways go by the database's; one alone by what its machine said at its start. */
  readonly clock: SteadyClock
  readonly read: Kysely<Schema>
  readonly #stage: Stage
  readonly #proc: Proc
  readonly #writer: Kysely<Schema>
  readonly #health: Health
  readonly #queue: GroupCommit
  readonly #clockKeeper: ClockKeeper
  /** Undefined where it is the only gateway there can be. */
  cluster?: Joined

  constructor(stage: Stage, proc: Proc) {
    this.#stage = stage
    this.#proc = proc
    this.dialect = stage.gateways === 1 ? 'sqlite' : 'postgres'
    this.clock = new SteadyClock(stage.world.wallMs(this.dialect === 'sqlite' ? proc : noProc))
    this.#writer = kyselyOver({
      ask: async (sql, parameters) => this.#ask(sql, parameters),
      begin: async () => {
        stage.db.takeDeeds()
        stage.db.run('BEGIN')
      },
      commit: () => this.#commit(),
      rollback: async () => stage.db.rollback(),
    })
    this.read = kyselyOver({
      ask: (sql, parameters) => this.#read(sql, parameters),
      begin: () => Promise.reject(new Error('a read has no transaction; use tx')),
      commit: never,
      rollback: never,
    })
    this.#health = new Health(
      async () => {
        if (this.cluster?.here === false) throw new Error('the others cannot see this gateway')
        await this.tx((tx) => setMeta(tx, 'probe', String(Date.now())))
      },
      () => {},
    )
    this.#queue = new GroupCommit((batch) => this.#write(batch))
    this.#clockKeeper = new ClockKeeper(this, this.clock, maxGapMs)
  }

  get healthy(): boolean {
    return this.#health.healthy
  }

  keepClock(): Promise<void> {
    return this.#clockKeeper.start()
  }

  join(joined: Joined): void {
    this.cluster = joined
  }

  failed(error: unknown): void {
    this.#health.failed(error)
  }

  /** The database says nothing. */
  silent(): void {
    if (this.dialect === 'postgres') this.failed(new Error('the database does not answer'))
  }

  record: Store['record'] = (request, entry) => this.#queue.add(request, entry)

  snapshot: Store['snapshot'] = async () => ({ db: this.read, end: async () => {} })

  /** As alone as SQLite's is, also where the real one would have to be waited for. */
  book: NonNullable<Store['book']> = (limit) =>
    this.tx(async (tx) => {
      const booked = await issueReceipts(tx, { dialect: 'sqlite', limit })
      ensure(booked !== 'busy', 'whoever is alone does not wait')
      return booked
    })

  async tx<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(work)
      } catch (error) {
        if (codeOf(error) === '40001' && tries < maxTries) continue
        if (isInjected(error)) this.failed(error)
        throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.#queue.close()
    await this.cluster?.leave()
    this.#health.stop()
  }

  /** There and back again; between the two, all of it happens at one moment. */
  #once<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    const { world } = this.#stage
    return new Promise((resolve, reject) => {
      const answer = (give: () => void) => world.after(this.#wayMs(), this.#proc, give)
      world.after(this.#wayMs(), this.#proc, () => {
        if (this.#stage.storeIsAway) return void answer(() => reject(away()))
        if (this.#hangs) return this.#cut(reject)
        this.#writer
          .transaction()
          .execute(work)
          .then(
            (value) => answer(() => resolve(value)),
            (error) => answer(() => reject(error)),
          )
      })
    })
  }

  /** A server that one process has for itself does not freeze without it. */
  get #hangs(): boolean {
    return this.dialect === 'postgres' && this.#stage.storeIsFrozen
  }

  /** What hangs ends when its connection is cut; a transaction that had not begun never does. */
  #cut(reject: (error: unknown) => void): void {
    const { world, random } = this.#stage
    world.after(random.store.between(0, cutAfterMs), this.#proc, () => reject(away()))
  }

  /** In a transaction: at once. */
  #ask(sql: string, parameters: readonly unknown[]) {
    if (!this.#proc.alive) return never<{ rows: unknown[]; changes: number }>()
    if (sql.includes('clock_timestamp()')) return this.#clock()
    const { db, world } = this.#stage
    try {
      return db.query(this.dialect === 'postgres' ? translate(sql) : sql, parameters)
    } catch (error) {
      if (codeOf(error) === 'SQLITE_ERROR') world.blame(`SQLite cannot run this: ${error} ${sql}`)
      throw error
    }
  }

  /** The clock of the database is nobody's own, and always right. */
  #clock() {
    return { rows: [{ now_ms: this.#stage.world.wallMs(noProc) }], changes: 1 }
  }

  #read(sql: string, parameters: readonly unknown[]) {
    const { world, random, faults } = this.#stage
    return new Promise<{ rows: unknown[]; changes: number }>((resolve, reject) => {
      world.after(this.#wayMs(), this.#proc, () => {
        const fails = this.#stage.storeIsAway || random.store.chance(faults.store.readFails)
        if (fails) return reject(away())
        if (this.#hangs) return this.#cut(reject)
        try {
          const found = this.#ask(sql, parameters)
          if (found instanceof Promise) return
          // Half of the answers are a moment old when they come.
          if (random.store.chance(0.5)) resolve(found)
          else world.after(this.#wayMs(), this.#proc, () => resolve(found))
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  async #commit(): Promise<void> {
    const { db, random, faults, world } = this.#stage
    const { store, process } = faults
    if (!this.#proc.alive) return never()
    if (random.process.chance(process.crashAtCommit)) return this.#die('before a commit')
    if (random.store.chance(store.lost)) throw trouble('the commit failed')
    if (this.dialect === 'postgres' && random.store.chance(store.raced)) {
      throw new DatabaseError('40001', 'could not serialize access')
    }
    db.run('COMMIT')
    const deeds = db.takeDeeds()
    if (deeds.length > 0) {
      world.note(`commits ${deeds.join(', ')}`, this.#proc)
      checkCommit(this.#stage)
    }
    if (random.process.chance(process.crashAtCommit)) return this.#die('after a commit')
    if (random.store.chance(store.unknown)) throw trouble('nobody knows whether it was stored')
  }

  #die(why: string): Promise<never> {
    this.#stage.kill(this.#proc, why)
    return never()
  }

  /** Several gateways send a batch again while the database is in trouble; one alone gives up. */
  async #write(batch: Batch): Promise<void> {
    const { world } = this.#stage
    const startMs = world.nowMs
    const deadlineMs = startMs + batchDeadlineMs
    for (let tries = 0; ; tries++) {
      try {
        await this.#writeOnce(batch, deadlineMs)
        if (this.cluster?.here !== false) this.#health.wrote()
        return
      } catch (error) {
        const pauseMs = this.dialect === 'postgres' ? retryPausesMs[tries] : undefined
        if (isInjected(error)) this.failed(error)
        if (pauseMs !== undefined && isInjected(error) && world.nowMs + pauseMs < deadlineMs) {
          await this.#stage.world.pause(pauseMs, this.#proc)
          continue
        }
        // Only when the database can no longer take it do its callers hear of it.
        if (this.dialect === 'postgres' && isInjected(error)) {
          await world.pause(startMs + giveUpMs - world.nowMs, this.#proc)
        }
        throw error
      }
    }
  }

  /** What has been sent arrives although its sender dies, where the database is not its own. */
  #writeOnce(batch: Batch, deadlineMs: number): Promise<void> {
    const { world, db, random } = this.#stage
    const server = this.cluster === undefined ? this.#proc : undefined
    return new Promise((resolve, reject) => {
      const answer = (give: () => void) => world.after(this.#wayMs(), this.#proc, give)
      const arrive = () => {
        if (this.#hangs) {
          // It lies in the server's socket until that goes on.
          this.#cut(reject)
          const thawMs = this.#stage.frozenUntilMs - world.nowMs
          return void world.after(thawMs + random.store.between(0, 50), undefined, arrive)
        }
        const { store, process } = this.#stage.faults
        if (this.#stage.storeIsAway) return void answer(() => reject(away()))
        if (this.cluster !== undefined && world.nowMs > deadlineMs) {
          return void answer(() => reject(trouble('the batch came after its deadline')))
        }
        if (random.process.chance(process.crashAtCommit)) return void this.#die('before a batch')
        if (random.store.chance(store.lost)) {
          return void answer(() => reject(trouble('the batch failed')))
        }
        try {
          if (this.cluster === undefined) writeSingleBatch(db, batch)
          else writeSharedBatch(db, batch, this.cluster.gatewayId)
        } catch (error) {
          return void answer(() => reject(error))
        }
        world.note(`records ${batch.size}`, this.#proc)
        checkCommit(this.#stage)
        if (random.process.chance(process.crashAtCommit)) return void this.#die('after a batch')
        const isUnsure = random.store.chance(store.unknown)
        answer(() => (isUnsure ? reject(trouble('nobody knows')) : resolve()))
      }
      world.after(this.#wayMs(), server, arrive)
    })
  }

  #wayMs(): number {
    const { random, faults } = this.#stage
    const isSlow = random.store.chance(faults.store.slow)
    return random.store.between(0.05, isSlow ? faults.store.slowMs : 1.5)
  }
}

const noProc: Proc = { name: 'database', alive: true, skewMs: 0, onDeath: new Set() }

const injected = 'SIM_TROUBLE'
const trouble = (message: string) => new DatabaseError(injected, message)
const away = () => trouble('the database is away')
export const isInjected = (error: unknown): boolean => codeOf(error) === injected
