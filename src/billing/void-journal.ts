// The void journal: calls that were reported to their callers as failed, on disk until the store
// has written each of them as free. One file per process in the data directory; the next process
// takes over the file of a dead one. Knows neither the store nor when a line is settled.
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { RequestRecord } from '../contract/requests.ts'
import type { Log } from '../lib/telemetry/log.ts'

/** A voided call, and what it would have cost. */
export interface Voided {
  record: RequestRecord
  chargeNanos: bigint
  /** It has claimed to be served beyond the balance. Not in the journal: a claim ends with its gateway. */
  isShort?: boolean
}

interface VoidJournalOptions {
  dir: string
  /** This process; where several share a database, its name there. */
  owner: string
  log: Log
}

/** The part that the ledger uses. */
export type Journal = Pick<VoidJournal, 'append' | 'clear' | 'takeOver'>

const named = (owner: string) => `void-journal-${owner}.jsonl`
const nameShape = /^void-journal-([\w-]+)\.jsonl$/
/** A hanging disk must not keep the caller waiting. */
const maxWaitMs = 1_000

export class VoidJournal {
  readonly #options: VoidJournalOptions
  readonly #file: string
  #lines = ''
  /** One operation at a time. */
  #running: Promise<unknown> = Promise.resolve()
  #flushing: Promise<boolean> | undefined
  #hasFile = false
  #isBroken = false

  constructor(options: VoidJournalOptions) {
    this.#options = options
    this.#file = join(options.dir, named(options.owner))
  }

  /** True when it is on disk. Never fails: without the line, the call is still void in memory. */
  append(voided: Voided): Promise<boolean> {
    this.#lines += lineOf(voided)
    this.#flushing ??= this.#next(() => this.#flush())
    const flushing = this.#flushing
    return Promise.race([
      flushing,
      new Promise<boolean>((late) => setTimeout(() => late(false), maxWaitMs).unref()),
    ])
  }

  /** Clears the journal if every line is still settled when its turn comes. */
  clear(isSettled: () => boolean): Promise<void> {
    return this.#next(async () => {
      if (!this.#hasFile || !isSettled()) return
      await unlink(this.#file).catch(() => {})
      this.#hasFile = false
    })
  }

  /** Lines that dead processes left behind; moves them into this process's file. */
  async takeOver(isAlive: (owner: string) => boolean): Promise<Voided[]> {
    const { dir, owner, log } = this.#options
    const found: Voided[] = []
    const names = await readdir(dir).catch(() => [])
    for (const name of names) {
      const of = nameShape.exec(name)?.[1]
      if (of === undefined || (of !== owner && ownersIn(of).some(isAlive))) continue
      try {
        found.push(...(of === owner ? await this.#own() : await this.#adopt(name)))
      } catch (error) {
        log.error('a void journal cannot be read', { file: join(dir, name), error })
      }
    }
    return found
  }

  /** Left by an earlier process of the same name, before a restart. */
  async #own(): Promise<Voided[]> {
    if (this.#hasFile) return []
    this.#hasFile = true
    return parse(await readFile(this.#file, 'utf8'))
  }

  /** Renamed first, so that only one process takes it, and only once. */
  async #adopt(name: string): Promise<Voided[]> {
    const { dir, owner } = this.#options
    const old = join(dir, name)
    const mine = join(dir, named(`${owner}-${name.slice(13, -6)}`))
    await rename(old, mine)
    const voided = parse(await readFile(mine, 'utf8'))
    for (const each of voided) this.#lines += lineOf(each)
    this.#flushing ??= this.#next(() => this.#flush())
    if (await this.#flushing) await unlink(mine)
    return voided
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#running.then(work)
    this.#running = done.catch(() => {})
    return done
  }

  async #flush(): Promise<boolean> {
    const lines = this.#lines
    this.#lines = ''
    this.#flushing = undefined
    if (lines === '') return true
    const { dir, log } = this.#options
    try {
      if (!this.#hasFile) await mkdir(dir, { recursive: true, mode: 0o700 })
      const file = await open(this.#file, 'a', 0o600)
      try {
        await file.appendFile(lines)
        await file.datasync()
      } finally {
        await file.close()
      }
      if (!this.#hasFile) await syncDirectory(dir)
      this.#hasFile = true
      this.#isBroken = false
      return true
    } catch (error) {
      if (!this.#isBroken) log.error('void journal not written', { file: this.#file, error })
      this.#isBroken = true
      return false
    }
  }
}

/** Of a file that `a` is taking over from `b`, named `a-b`: both. */
const ownersIn = (name: string): string[] =>
  name.split('-').map((_, i, parts) => parts.slice(0, i + 1).join('-'))

/** Without it a new file may be lost after a power failure, with its content. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  await handle.sync().finally(() => handle.close())
}

function lineOf({ record, chargeNanos }: Voided): string {
  const { trace: _, chargeNanos: free, ...plain } = record
  const line = { ...plain, chargeNanos: String(free), wouldHaveCost: String(chargeNanos) }
  return `${JSON.stringify(line)}\n`
}

/** The last line may be truncated: its caller had not been told yet. */
function parse(text: string): Voided[] {
  return text.split('\n').flatMap((line) => {
    try {
      const { wouldHaveCost, chargeNanos, ...plain } = JSON.parse(line)
      const record = { ...plain, chargeNanos: BigInt(chargeNanos) } as RequestRecord
      return [{ record, chargeNanos: BigInt(wouldHaveCost) }]
    } catch {
      return []
    }
  })
}
