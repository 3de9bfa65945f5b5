// What a data directory goes through: starts, load with charges, a checkpoint, turns of the journal, a backup, a
// stop and the next start, on a disk on which one operation may fail. Notes what was promised to callers.

import { loadConfig } from '../../src/config/index.ts'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import { createLog } from '../../src/lib/telemetry/log.ts'
import { openCheckedStore } from '../../src/start/boot.ts'
import { loadKeys } from '../../src/start/keys.ts'
import { isRefusedStart } from '../../src/start/serve.ts'
import { findAccount, insertAccount } from '../../src/store/catalog/accounts.ts'
import type { Store } from '../../src/store/index.ts'
import { sumEntries } from '../../src/store/ledger/entries.ts'
import { backupLines } from '../../src/store/maintenance/backup.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import { aRequest, charged } from '../../src/store/test-stores.ts'

const accountId = 'acc_1'
const healMs = 5_000
/** More than a file of the journal takes before the other has its turn. */
const turn = '.'.repeat(4_300_000)

export class Violation extends Error {}

export class Life {
  readonly #dir: string
  readonly #mayFail: () => boolean
  /** Charged, as far as their callers know. */
  readonly #promised = new Set<string>()
  readonly #tried = new Set<string>()
  /** Of each kind of work: one fault explains one failure. */
  #failures = 0
  #store: Store | undefined

  /** `mayFail`: a fault has been injected. */
  constructor(dir: string, mayFail: () => boolean) {
    this.#dir = dir
    this.#mayFail = mayFail
  }

  /** Leaves a directory without charges. */
  async quietDay(): Promise<void> {
    await this.start()
    await this.#stop()
  }

  /** The first start with its first charges, which are returned. */
  async firstHour(): Promise<ReadonlySet<string>> {
    await this.start()
    await this.#load(1)
    await this.#stop()
    return this.#promised
  }

  /** Starts once, without a refusal, and goes on. */
  async after(promised: readonly string[], tried: ReadonlySet<string>): Promise<void> {
    for (const id of promised) this.#promised.add(id)
    for (const id of tried) this.#tried.add(id)
    await this.start()
    await this.#load(1)
    await this.#stop()
    await this.#check()
  }

  async firstDay(): Promise<void> {
    await this.start()
    await this.#load(2)
    await this.#stop()
    await this.#check()
  }

  async everyDay(): Promise<void> {
    await this.start()
    await this.#load(4)
    // The checkpoint.
    await Bun.sleep(40)
    await this.#load(1, turn)
    await this.#load(2)
    await this.#load(1, turn)
    await this.#load(2)
    await this.#work('a backup', () => this.#backup())
    await this.#load(2)
    await this.#stop()
    await this.#check()
  }

  /** One start may be refused, with a sentence; the next one must not be. */
  async start(): Promise<void> {
    await this.#work('a start', async () => {
      const config = loadConfig({ GATEWAY_DATA_DIR: this.#dir, GATEWAY_PORT: '0' }, this.#dir)
      const log = createLog({ level: 'error', pretty: false, write: () => {}, clean: (x) => x })
      try {
        const keys = loadKeys(config)
        this.#store = await openCheckedStore(config, keys, createSeal(keys.masterKey), log)
      } catch (error) {
        if (!isRefusedStart(error)) throw new Violation(`a start ended with ${error}`)
        throw error
      }
    })
    const store = this.#store!
    await this.#work('an account', () =>
      store.tx(async (tx) => {
        if ((await findAccount(tx, accountId)) !== undefined) return
        await insertAccount(tx, { id: accountId, name: 'acme', source: 'api', createdAtMs: 1 })
      }),
    )
  }

  async #load(rounds: number, padding = ''): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const calls = Array.from({ length: padding === '' ? 4 : 1 }, () => this.#charge(padding))
      const outcomes = await Promise.allSettled(calls)
      if (outcomes.every(({ status }) => status === 'fulfilled')) continue
      this.#explain(
        'a charge',
        outcomes.find(({ status }) => status === 'rejected'),
      )
      await this.#heals()
    }
    await this.#work('a transaction', () => this.#store!.tx((tx) => setMeta(tx, 'tried', '1')))
    if (!this.#store!.healthy) await this.#heals()
  }

  async #charge(padding = ''): Promise<void> {
    const request = aRequest({ accountId, chargeNanos: 1n, upstreamRequestId: `up${padding}` })
    this.#tried.add(request.requestId)
    await this.#store!.record(charged(request, 1n))
    this.#promised.add(request.requestId)
  }

  /** Without a restart. */
  async #heals(): Promise<void> {
    const untilMs = performance.now() + healMs
    while (!this.#store!.healthy) {
      if (performance.now() > untilMs) throw new Violation('the store does not heal')
      await Bun.sleep(10)
    }
    await this.#charge()
  }

  async #backup(): Promise<void> {
    let last = ''
    for await (const lines of backupLines(this.#store!, Date.now())) last = lines
    if (!last.includes('"end":true')) throw new Violation('a backup ended without an end')
  }

  async #stop(): Promise<void> {
    try {
      await this.#store!.close()
    } catch (error) {
      throw new Violation(`a stop failed: ${error}`)
    }
  }

  async #check(): Promise<void> {
    await this.start()
    const db = this.#store!.read
    await this.#work('a look', async () => {
      const rows = await db.selectFrom('ledger').select('ref').execute()
      const refs = new Set(rows.map(({ ref }) => ref))
      const lost = [...this.#promised].filter((id) => !refs.has(id))
      const foreign = [...refs].filter((id) => !this.#tried.has(id))
      const [sum] = await sumEntries(db)
      const balance = (await findAccount(db, accountId))?.balanceNanos
      if (lost.length > 0) throw new Violation(`${lost.length} charges are lost`)
      if (foreign.length > 0) throw new Violation(`${foreign.length} charges came from nowhere`)
      if (rows.length !== refs.size) throw new Violation('a charge was doubled')
      if (balance !== sum?.balanceNanos || balance !== BigInt(-refs.size)) {
        throw new Violation(`a balance is ${balance} and should be ${-refs.size}`)
      }
    })
    await this.#stop()
  }

  /** Again, if a fault explains why it failed. */
  async #work(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof Violation) throw error
      this.#explain(what, error)
      await work().catch((again) => {
        throw new Violation(`${what} failed again: ${again}`)
      })
    }
  }

  #explain(what: string, error: unknown): void {
    if (!this.#mayFail() || ++this.#failures > maxFailures) {
      throw new Violation(`${what} failed without a fault: ${JSON.stringify(error)} ${error}`)
    }
  }
}

/** A failed batch, the transaction after it and the read between them have one cause. */
const maxFailures = 3
