// Several gateways on one database, as with PostgreSQL: each holds a lock that is freed when it dies or is cut
// off, and a gateway that finds another one without its lock evicts it. Messages take time; a gateway that is
// cut off gets none.
import { newShortId } from '../../src/lib/crypto/ids.ts'
import { evictGateway } from '../../src/store/ledger/credit-leases.ts'
import { isGateway } from '../../src/store/maintenance/gateways.ts'
import type { Notice } from '../../src/store/store.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import type { Joined, SimStore } from './store.ts'

const sweepEveryMs = 10_000
const reconnectEveryMs = 1_000
const burialPollMs = 20

/** All members that have joined, dead or alive, by id. */
export type Hub = Map<string, SimCluster>

export class SimCluster implements Joined {
  readonly gatewayId = newShortId('gwy')
  readonly proc: Proc
  readonly #context: SimContext
  readonly #store: SimStore
  readonly #hub: Hub
  readonly #listeners: ((notice: Notice) => void)[] = []
  #timer: ReturnType<typeof setInterval> | undefined
  #sweeping: Promise<void> | undefined
  #isHere = false
  #closed = false
  /** The gateway that is evicting it. */
  evictedBy: Proc | undefined

  constructor(context: SimContext, proc: Proc, store: SimStore, hub: Hub) {
    this.#context = context
    this.proc = proc
    this.#store = store
    this.#hub = hub
  }

  get here(): boolean {
    return this.#isHere && this.proc.alive
  }

  async join(): Promise<void> {
    this.#hub.set(this.gatewayId, this)
    await this.#connect()
    this.#timer = setInterval(() => void this.sweep(), sweepEveryMs)
    await this.sweep()
  }

  subscribe(listener: (notice: Notice) => void): void {
    this.#listeners.push(listener)
  }

  publish(notice: Notice): void {
    const { world, random } = this.#context
    if (!this.proc.alive || this.#context.storeIsAway) return
    for (const other of this.#hub.values()) {
      if (other === this || !other.here) continue
      world.after(random.store.between(0.5, 30), other.proc, () => {
        if (other.here) other.#say(notice)
      })
    }
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch(() => {})
      .finally(() => {
        this.#sweeping = undefined
      })
    return this.#sweeping
  }

  async lives(gatewayId: string): Promise<boolean> {
    await this.sweep()
    return this.#store.tx((tx) => isGateway(tx, gatewayId))
  }

  /** The simulation does not need it. */
  withLock<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** The simulation does not need it. */
  tryLock<T>(_lock: number, work: () => Promise<T>): Promise<T | undefined> {
    return work()
  }

  async leave(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#sweeping
    if (this.here) await this.#store.tx((tx) => evictGateway(tx, this.gatewayId)).catch(() => {})
    this.#isHere = false
  }

  /** Cut off from the others for a while, and it knows. */
  cutOff(forMs: number): void {
    if (!this.here) return
    this.#context.world.note(`is cut off for ${Math.round(forMs)} ms`, this.proc)
    this.#isHere = false
    this.#store.failed(new Error('the connection that says this gateway lives was lost'))
    this.#context.world.after(forMs, this.proc, () => void this.#again())
  }

  async #again(): Promise<void> {
    while (!this.#closed && !this.here) {
      await this.#context.world.pause(reconnectEveryMs, this.proc)
      if (this.#context.storeIsAway) continue
      await this.#connect()
      this.#say({ kind: 'changed' })
    }
  }

  /** The lock comes before the row; an evicting gateway holds the lock until it is done. */
  async #connect(): Promise<void> {
    const { world, db, random } = this.#context
    await world.pause(random.store.between(0.5, 5), this.proc)
    while (this.evictedBy?.alive === true) await world.pause(burialPollMs, this.proc)
    const { changes } = db.query(
      `INSERT INTO gateways (id, lock_key, started_at_ms) VALUES (?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
      [this.gatewayId, [...this.#hub.keys()].indexOf(this.gatewayId), Date.now()],
    )
    this.#isHere = true
    world.note(changes === 1 ? 'joins' : 'is back', this.proc)
    if (changes === 1) this.#say({ kind: 'evicted' })
  }

  async #sweep(): Promise<void> {
    const { world, db, random } = this.#context
    await world.pause(random.store.between(0.5, 5), this.proc)
    if (!this.here || this.#context.storeIsAway) return
    const { rows } = db.query<{ id: string }>('SELECT id FROM gateways WHERE id <> ?', [
      this.gatewayId,
    ])
    for (const { id } of rows) {
      const other = this.#hub.get(id)
      if (other === undefined || other.here || other.evictedBy?.alive === true) continue
      other.evictedBy = this.proc
      try {
        await this.#store.tx((tx) => evictGateway(tx, id))
        world.note(`buries ${other.proc.name}`, this.proc)
      } finally {
        other.evictedBy = undefined
      }
    }
  }

  #say(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}
