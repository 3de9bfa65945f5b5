// A stream of server-sent events as a JSON list that grows: for callers that did not ask for events.
import { dataOf, endOfLastEvent, splitEvents } from '../../lib/http/sse.ts'

/** Legal between the items of a list; shows that the connection is alive. */
const blank = '\n'

export function listOf(events: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = events.getReader()
  let begun: Uint8Array[] = []
  let before = '['
  const itemsIn = (chunk: Uint8Array): string => {
    const all = Buffer.concat([...begun, chunk])
    const end = endOfLastEvent(all)
    begun = end === all.length ? [] : [all.subarray(end)]
    let items = ''
    for (const event of splitEvents(all.toString('utf8', 0, end))) {
      const data = dataOf(event)
      items += data === undefined ? blank : `${before}${data}\r\n`
      if (data !== undefined) before = ','
    }
    return items
  }
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) {
            controller.enqueue(Buffer.from(before === '[' ? '[]' : ']'))
            controller.close()
            return
          }
          const items = itemsIn(value)
          if (items === '') continue
          controller.enqueue(Buffer.from(items))
          return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
