// The output of a stream that its watcher has seen: how much it is, and whether there is more of it.

import { isComment } from '../../lib/http/event-buffer.ts'
import { nameOf } from '../../lib/http/sse.ts'
import { TextSample } from '../../lib/text/text-sample.ts'

/** Events of styles with names that only say that the stream is alive. */
const signsOfLife = ['ping', 'response.in_progress', 'response.queued', 'keepalive']

const tokenBytes = 4

export class SeenOutput extends TextSample {
  /** Events that were opened and say more than that. */
  #steps = 0
  #stepsShown = 0
  #longBytes = 0
  /** When it was last asked. */
  #shown = 0

  /** A text that is counted by its size alone. */
  addText(bytes: number): void {
    this.#longBytes += bytes
  }

  override countTokens(textField: RegExp): number {
    return super.countTokens(textField) + Math.ceil(this.#longBytes / tokenBytes)
  }

  /** An event with a name was opened. */
  addStep(event: string): void {
    if (!signsOfLife.includes(nameOf(event) ?? '')) this.#steps++
  }

  /** By the steps, and by text in the last bytes: unread events may have none. */
  hasGoneOn(last: Buffer | undefined, textField: RegExp): boolean {
    const before = this.#shown
    this.#shown = this.#steps + this.#longBytes + this.addedBytes
    if (this.#shown === before) return false
    const hasStepped = this.#steps > this.#stepsShown
    this.#stepsShown = this.#steps
    if (hasStepped) return true
    return (last?.toString('latin1') ?? '').matchAll(textField).some(([, text]) => text !== '')
  }
}

/** More would keep whole network buffers alive. */
const maxBytes = 4 * 1024

/** As many before `to`. */
export const lastOf = (whole: Buffer, to: number): Buffer =>
  whole.subarray(Math.max(0, to - maxBytes), to)

/** The last bytes sent; they show whether the answer was complete. */
export class LastBytes {
  bytes: Buffer | undefined
  #copy: Buffer | undefined

  record(whole: Buffer): void {
    // A comment says nothing about the state of the answer.
    if (isComment(whole)) return
    if (whole.length <= maxBytes) {
      this.bytes = whole
      return
    }
    this.#copy ??= Buffer.allocUnsafeSlow(maxBytes)
    whole.copy(this.#copy, 0, whole.length - maxBytes)
    this.bytes = this.#copy
  }
}
