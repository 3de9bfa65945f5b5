// The store of one simulated gateway: the real statements on the real tables, over an unreliable connection
// to the database. Each transaction is one event of the world; its request and its reply take time, and the
// gateway may die before or after it.
import type { Kysely } from 'kysely'
import { SteadyClock } from '../../src/lib/clock.ts'
import { ClockKeeper } from '../../src/store/dialects/clock-keeper.ts'
import { codeOf, DatabaseError } from '../../src/store/dialects/errors.ts'
import { type Batch, GroupCommit } from '../../src/store/dialects/group-commit.ts'
import { Health } from '../../src/store/dialects/health.ts'
import type { Schema } from '../../src/store/schema.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import type { Cluster, Store } from '../../src/store/store.ts'
import { checkCommit } from '../verify/check-commit.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import { kyselyOver, translate } from './database.ts'
import { away, isInjected, trouble } from './injected-errors.ts'
import type { RecordDisk } from './record-disk.ts'
import { cut, SharedRecords } from './shared-records.ts'
import { SingleRecords } from './single-records.ts'

const maxTries = 5
/** Restarts are short here, and a task lives a minute at most. */
const maxGapMs = 20_000

/** Membership in the cluster, as far as the store needs it. */
export interface Joined extends Cluster {
  readonly here: boolean
  leave(): Promise<void>
}

/** Never settles: the waiting process is dead. */
const never = <T>(): Promise<T> => new Promise(() => {})

export class SimStore implements Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** Several gateways use the clock of the database; a single one that of its machine at its start. */
  readonly clock: SteadyClock
  readonly read: Kysely<Schema>
  readonly #context: SimContext
  readonly #proc: Proc
  readonly #writer: Kysely<Schema>
  readonly #health: Health
  readonly #queue: GroupCommit
  readonly #clockKeeper: ClockKeeper
  /** Undefined for several gateways. */
  readonly #single: SingleRecords | undefined
  readonly #shared: SharedRecords
  /** Undefined for a single gateway. */
  cluster?: Joined

  constructor(context: SimContext, proc: Proc, disk: RecordDisk) {
    this.#context = context
    this.#proc = proc
    this.dialect = context.gateways === 1 ? 'sqlite' : 'postgres'
    this.clock = new SteadyClock(context.world.wallMs(this.dialect === 'sqlite' ? proc : noProc))
    this.#writer = kyselyOver({
      ask: async (sql, parameters) => this.#ask(sql, parameters),
      begin: async () => {
        context.db.takeWrites()
        context.db.run('BEGIN')
      },
      commit: () => this.#commit(),
      rollback: async () => context.db.rollback(),
    })
    this.read = kyselyOver({
      ask: async (sql, parameters) => {
        await this.#single?.settle()?.catch(() => {})
        return this.#read(sql, parameters)
      },
      begin: () => Promise.reject(new Error('a read has no transaction; use tx')),
      commit: never,
      rollback: never,
    })
    this.#health = new Health(
      async () => {
        if (this.cluster?.here === false) throw new Error('the others cannot see this gateway')
        if (this.#single !== undefined) await this.#queue.probe()
        await this.tx((tx) => setMeta(tx, 'probe', String(Date.now())))
      },
      () => {},
    )
    const failed = (error: unknown) => this.failed(error)
    const access = { context, proc, disk, wayMs: () => this.#wayMs(), failed }
    this.#single = context.gateways === 1 ? new SingleRecords(access) : undefined
    this.#shared = new SharedRecords(access)
    this.#queue = new GroupCommit((batch) => this.#write(batch))
    this.#clockKeeper = new ClockKeeper(this, this.clock, maxGapMs)
  }

  get healthy(): boolean {
    return this.#health.healthy
  }

  async open(): Promise<void> {
    await this.#single?.open()
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

  /** The database does not reply. */
  silent(): void {
    if (this.dialect === 'postgres') this.failed(new Error('the database does not answer'))
  }

  record: Store['record'] = (call) => this.#queue.add(call)

  snapshot: Store['snapshot'] = async () => ({ db: this.read, end: async () => {} })

  async tx<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        const single = this.#single
        return await (single === undefined
          ? this.#once(work)
          : single.inTurn(() => this.#once(work)))
      } catch (error) {
        if (codeOf(error) === '40001' && tries < maxTries) continue
        if (isInjected(error)) this.failed(error)
        throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.#queue.close()
    await this.#single?.close()
    await this.cluster?.leave()
    this.#health.stop()
  }

  /** Request and reply take time; the transaction itself happens at one moment. */
  #once<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    const { world } = this.#context
    return new Promise((resolve, reject) => {
      const answer = (give: () => void) => world.after(this.#wayMs(), this.#proc, give)
      world.after(this.#wayMs(), this.#proc, () => {
        if (this.#context.storeIsAway) return void answer(() => reject(away()))
        if (this.#hangs) return cut(this.#context, this.#proc, reject)
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

  /** Only a shared server freezes apart from its gateways. */
  get #hangs(): boolean {
    return this.dialect === 'postgres' && this.#context.storeIsFrozen
  }

  /** Inside a transaction: immediately. */
  #ask(sql: string, parameters: readonly unknown[]) {
    if (!this.#proc.alive) return never<{ rows: unknown[]; changes: number }>()
    if (sql.includes('clock_timestamp()')) return this.#clock()
    const { db, world } = this.#context
    try {
      return db.query(this.dialect === 'postgres' ? translate(sql) : sql, parameters)
    } catch (error) {
      if (codeOf(error) === 'SQLITE_ERROR')
        world.addViolation(`SQLite cannot run this: ${error} ${sql}`)
      throw error
    }
  }

  /** The clock of the database is always right. */
  #clock() {
    return { rows: [{ now_ms: this.#context.world.wallMs(noProc) }], changes: 1 }
  }

  #read(sql: string, parameters: readonly unknown[]) {
    const { world, random, faults } = this.#context
    return new Promise<{ rows: unknown[]; changes: number }>((resolve, reject) => {
      world.after(this.#wayMs(), this.#proc, () => {
        const fails = this.#context.storeIsAway || random.store.chance(faults.store.readFails)
        if (fails) return reject(away())
        if (this.#hangs) return cut(this.#context, this.#proc, reject)
        try {
          const found = this.#ask(sql, parameters)
          if (found instanceof Promise) return
          // Half of the results are slightly old when they arrive.
          if (random.store.chance(0.5)) resolve(found)
          else world.after(this.#wayMs(), this.#proc, () => resolve(found))
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  async #commit(): Promise<void> {
    const { db, random, faults, world } = this.#context
    const { store, process } = faults
    if (!this.#proc.alive) return never()
    if (random.process.chance(process.crashAtCommit)) return this.#die('before a commit')
    if (random.store.chance(store.lost)) throw trouble('the commit failed')
    if (this.dialect === 'postgres' && random.store.chance(store.raced)) {
      throw new DatabaseError('40001', 'could not serialize access')
    }
    db.run('COMMIT')
    const writes = db.takeWrites()
    if (writes.length > 0) {
      world.note(`commits ${writes.join(', ')}`, this.#proc)
      checkCommit(this.#context)
    }
    if (random.process.chance(process.crashAtCommit)) return this.#die('after a commit')
    if (random.store.chance(store.unknown)) throw trouble('unknown whether it was stored')
  }

  #die(why: string): Promise<never> {
    this.#context.kill(this.#proc, why)
    return never()
  }

  async #write(batch: Batch): Promise<void> {
    try {
      if (this.#single !== undefined) return await this.#single.write(batch)
      await this.#shared.write(batch, this.cluster!.gatewayId)
      if (this.cluster?.here !== false) this.#health.wrote()
    } catch (error) {
      if (isInjected(error)) this.failed(error)
      throw error
    }
  }

  #wayMs(): number {
    const { random, faults } = this.#context
    const isSlow = random.store.chance(faults.store.slow)
    return random.store.between(0.05, isSlow ? faults.store.slowMs : 1.5)
  }
}

const noProc: Proc = { name: 'database', alive: true, skewMs: 0, onDeath: new Set() }
