// Limits the bytes of large bodies that this process holds at once, in total and per account. A body that
// finds no room waits unread in the caller's connection for a moment.
import { type Refusal, refuse } from '../../contract/errors.ts'

/** Smaller bodies are not counted: connections bound them. */
export const smallBodyBytes = 64 * 1024

interface RoomLimits {
  /** Of all accounts; text and parsed value of a body need about three times as much. */
  bytes: number
  /** Of one account, so that none can keep the others out. */
  accountBytes: number
  waitMs: number
  /** Bodies that wait. */
  queued: number
}

const usual: RoomLimits = {
  bytes: 256 * 1024 * 1024,
  accountBytes: 128 * 1024 * 1024,
  waitMs: 5_000,
  queued: 256,
}

interface Waiting {
  account: string
  bytes: number
  go: (room: boolean) => void
}

/** Room that was taken; given back once. */
export interface TakenRoom {
  /** False when there is no more; room already taken stays taken. */
  grow(bytes: number): boolean
  giveBack(): void
}

export class BodyRoom {
  readonly #limits: RoomLimits
  readonly #byAccount = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #taken = 0
  #collecting: ReturnType<typeof setTimeout> | undefined

  constructor(limits: Partial<RoomLimits> = {}) {
    this.#limits = { ...usual, ...limits }
  }

  get takenBytes(): number {
    return this.#taken
  }

  /** Waits for room, first come, first served. */
  async take(account: string, bytes: number): Promise<TakenRoom | Refusal> {
    if (bytes > 0 && (this.#waiting.size > 0 || !this.#add(account, bytes))) {
      if (this.#waiting.size >= this.#limits.queued) return this.#noRoom(account, bytes)
      if (!(await this.#wait(account, bytes))) return this.#noRoom(account, bytes)
    }
    return this.#takenFor(account, bytes)
  }

  #takenFor(account: string, first: number): TakenRoom {
    let held = first
    return {
      grow: (bytes) => {
        if (!this.#add(account, bytes)) return false
        held += bytes
        return true
      },
      giveBack: () => {
        this.#remove(account, held)
        held = 0
      },
    }
  }

  #wait(account: string, bytes: number): Promise<boolean> {
    return new Promise((resolve) => {
      const one: Waiting = { account, bytes, go: (room) => end(room) }
      const timer = setTimeout(() => end(false), this.#limits.waitMs)
      const end = (room: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(one)
        resolve(room)
        // It may have kept smaller bodies waiting.
        if (!room) this.#letIn()
      }
      this.#waiting.add(one)
      this.#letIn()
    })
  }

  /** An account that has enough does not keep others waiting behind it. */
  #letIn(): void {
    for (const one of [...this.#waiting]) {
      if (this.#add(one.account, one.bytes)) one.go(true)
      else if (this.#of(one.account) + one.bytes <= this.#limits.accountBytes) return
    }
  }

  #of(account: string): number {
    return this.#byAccount.get(account) ?? 0
  }

  #add(account: string, bytes: number): boolean {
    const own = this.#of(account) + bytes
    if (own > this.#limits.accountBytes || this.#taken + bytes > this.#limits.bytes) return false
    this.#taken += bytes
    this.#byAccount.set(account, own)
    return true
  }

  #remove(account: string, bytes: number): void {
    if (bytes === 0) return
    this.#taken -= bytes
    const own = this.#of(account) - bytes
    if (own === 0) this.#byAccount.delete(account)
    else this.#byAccount.set(account, own)
    this.#letIn()
    this.#collectSoon()
  }

  /** Without further requests, unused room would stay taken. */
  #collectSoon(): void {
    if (this.#collecting !== undefined) return
    this.#collecting = setTimeout(() => {
      this.#collecting = undefined
      Bun.gc(false)
    }, collectAfterMs)
    this.#collecting.unref()
  }

  #noRoom(account: string, bytes: number): Refusal {
    return this.#of(account) + bytes > this.#limits.accountBytes
      ? refuse('rate_limit_exceeded', 'this account is sending too many large bodies at once', {
          retryAfterSeconds: 1,
        })
      : refuse('overloaded', 'the gateway is reading too many large bodies at once', {
          retryAfterSeconds: 1,
        })
  }
}

const collectAfterMs = 2_000

/** Of this process. */
export const bodyRoom = new BodyRoom()
