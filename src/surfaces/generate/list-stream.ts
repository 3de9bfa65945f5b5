// A stream of server-sent events as a JSON list that grows: for callers that did not ask for events.
import type { AnswerStream, StreamSink } from '../../contract/caller-api.ts'
import { dataOf, endOfLastEvent, splitEvents } from '../../lib/http/sse.ts'

/** Legal between the items of a list; shows that the connection is alive. */
const blank = '\n'

export const listOf = (events: AnswerStream): AnswerStream => ({
  start: (sink) => events.start(new ListSink(sink)),
})

class ListSink implements StreamSink {
  readonly #list: StreamSink
  #begun: Uint8Array[] = []
  #before = '['

  constructor(list: StreamSink) {
    this.#list = list
  }

  write(bytes: Uint8Array): undefined | Promise<unknown> {
    const items = this.#itemsIn(bytes)
    return items === '' ? undefined : this.#list.write(Buffer.from(items))
  }

  end(): void {
    this.#list.write(Buffer.from(this.#before === '[' ? '[]' : ']'))
    this.#list.end()
  }

  cut(): void {
    this.#list.cut()
  }

  #itemsIn(bytes: Uint8Array): string {
    const all = Buffer.concat([...this.#begun, bytes])
    const end = endOfLastEvent(all)
    this.#begun = end === all.length ? [] : [all.subarray(end)]
    let items = ''
    for (const event of splitEvents(all.toString('utf8', 0, end))) {
      const data = dataOf(event)
      items += data === undefined ? blank : `${this.#before}${data}\r\n`
      if (data !== undefined) this.#before = ','
    }
    return items
  }
}
