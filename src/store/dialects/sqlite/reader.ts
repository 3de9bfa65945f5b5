// The thread for reads outside a transaction. A thread costs memory: it starts with the first read and
// stops when reads cease. One that fails is replaced at the next read.
import type { Question, Rows } from './messages.ts'
import { DatabaseThread } from './thread.ts'

/** How long the reader thread stays after the last query. */
const idleMs = 10_000

export class Reader {
  readonly #file: string
  #thread: DatabaseThread | undefined
  #opened: Promise<unknown> = Promise.resolve()
  #asking = 0
  #idle: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(file: string) {
    this.#file = file
  }

  async ask(question: Question): Promise<Rows | undefined> {
    if (this.#closed) throw new Error('the store is closed')
    clearTimeout(this.#idle)
    this.#asking++
    try {
      return await (await this.#current()).ask(question)
    } finally {
      if (--this.#asking === 0 && !this.#closed) {
        clearTimeout(this.#idle)
        this.#idle = setTimeout(() => void this.#end().catch(() => {}), idleMs)
        this.#idle.unref()
      }
    }
  }

  async #current(): Promise<DatabaseThread> {
    if (this.#thread === undefined || this.#thread.isBroken) {
      this.#thread = new DatabaseThread()
      this.#opened = this.#thread.ask({ kind: 'open', role: 'reader', file: this.#file })
    }
    const thread = this.#thread
    try {
      await this.#opened
    } catch (error) {
      // The next read tries again, with another one.
      if (this.#thread === thread) this.#thread = undefined
      await thread.close().catch(() => {})
      throw error
    }
    return thread
  }

  async #end(): Promise<void> {
    const old = this.#thread
    this.#thread = undefined
    await old?.close()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#end()
  }
}
