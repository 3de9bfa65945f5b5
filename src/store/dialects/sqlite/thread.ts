// The main thread's end of a database thread: requests out, replies back in order.
import { assets } from '../../../lib/assets.ts'
import { DatabaseError } from '../errors.ts'
import type { Answer, Asked, Question, Rows } from './messages.ts'

interface Pending {
  resolve: (rows: Rows | undefined) => void
  reject: (error: Error) => void
}

export class DatabaseThread {
  // A small heap: it only passes text to the disk.
  readonly #worker = new Worker(assets.databaseThread, { smol: true })
  /** By id. Not a Map, which keeps answered ones alive: see lib/in-flight.ts. */
  readonly #pending: (Pending | undefined)[] = []
  readonly #freeIds: number[] = []
  readonly #died: (error: Error) => void
  #broken: Error | undefined

  /** `died`: it has ended by itself, by a defect of the program. */
  constructor(died: (error: Error) => void = () => {}) {
    this.#died = died
    this.#worker.onmessage = (event: MessageEvent<Answer>) => this.#answered(event.data)
    this.#worker.onerror = (event) => this.#break(`the database thread failed: ${event.message}`)
    this.#worker.addEventListener('close', () => this.#break('the database thread has ended'))
  }

  /** Answers nothing any more. */
  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  ask(question: Question): Promise<Rows | undefined> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    return new Promise((resolve, reject) => {
      const id = this.#freeIds.pop() ?? this.#pending.length
      this.#pending[id] = { resolve, reject }
      this.#worker.postMessage({ ...question, id } satisfies Asked)
    })
  }

  /** Ends the thread in any case; throws when the database could not be closed first. */
  async close(): Promise<void> {
    try {
      if (this.#broken === undefined) await this.ask({ kind: 'close' })
    } finally {
      this.#end(new DatabaseError('SQLITE_MISUSE', 'the store is closed'))
      this.#worker.terminate()
    }
  }

  #answered(answer: Answer): void {
    const { id, rows, failure } = typeof answer === 'number' ? { id: answer } : answer
    const pending = this.#pending[id]
    if (pending === undefined) return
    this.#pending[id] = undefined
    this.#freeIds.push(id)
    if (failure === undefined) pending.resolve(rows)
    else {
      const error = new DatabaseError(failure.code, failure.message)
      pending.reject(failure.file === undefined ? error : Object.assign(error, failure))
    }
  }

  #break(why: string): void {
    const error = new DatabaseError('SQLITE_ERROR', why)
    if (this.#end(error)) this.#died(error)
  }

  /** True the first time. */
  #end(error: Error): boolean {
    if (this.#broken !== undefined) return false
    this.#broken = error
    for (const pending of this.#pending.splice(0)) pending?.reject(error)
    return true
  }
}
