// What every call to the sandbox asked for and got, for tests that compare it with a ledger.
import type { Protocol } from '../../src/contract/catalog.ts'

/** On the wire as it stands here. */
export interface LoggedCall {
  id: string
  at_ms: number
  /** Null when no protocol serves the path. */
  protocol: Protocol | null
  model: string | null
  user?: string
  /** 0 until an answer has begun. */
  status: number
  stream: boolean
  prompt_tokens: number
  /** Tokens handed out: of a broken stream, those before the break. */
  completion_tokens: number
  /** Images in the answer; absent where there cannot be any. */
  images?: number
  /** The complete answer was handed to the socket. */
  finished: boolean
}

const maxCalls = 50_000

export class CallLog {
  #calls: LoggedCall[] = []
  #total = 0

  open(id: string, protocol: Protocol | null): LoggedCall {
    const call: LoggedCall = {
      id,
      at_ms: Date.now(),
      protocol,
      model: null,
      status: 0,
      stream: false,
      prompt_tokens: 0,
      completion_tokens: 0,
      finished: false,
    }
    this.#total++
    // Trimmed by halves: shifting one out per call would copy the whole list each time.
    if (this.#calls.push(call) >= 2 * maxCalls) this.#calls = this.#calls.slice(-maxCalls)
    return call
  }

  read(): { total: number; calls: LoggedCall[] } {
    return { total: this.#total, calls: this.#calls.slice(-maxCalls) }
  }

  clear(): void {
    this.#calls = []
    this.#total = 0
  }
}
