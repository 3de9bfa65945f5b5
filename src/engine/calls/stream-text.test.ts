// Much of a stream that has come at once.
import { expect, test } from 'bun:test'
import type { StreamSink } from '../../contract/caller-api.ts'
import { readable } from '../../lib/http/pipe-by-read.ts'
import type { OpenCall } from './open-call.ts'
import type { BegunStream } from './send-call.ts'
import { CallerStream } from './stream-text.ts'

const pieceBytes = 64 * 1024
const pieces = 64

test('goes to the caller in several turns, whole and in order', async () => {
  let sent = 0
  const ignore = () => {}
  const watcher = { outcome: undefined, take: (bytes: Uint8Array) => bytes, events: 1 }
  const read = async () =>
    sent < pieces ? new Uint8Array(pieceBytes).fill(sent++) : new Promise<undefined>(ignore)
  const open = { bounds: { modelOutputTokens: 1e7 }, ctx: { signal: {} } } as unknown as OpenCall
  const begun = {
    attempt: { deadline: { awaitCaller: ignore, touch: ignore, give: ignore } },
    reply: { answer: readable(read), watcher },
  } as unknown as BegunStream
  const written: number[] = []
  const { promise: isWhole, resolve: finish } = Promise.withResolvers<void>()
  const sink = {
    write(bytes: Uint8Array) {
      written.push(bytes[0]!)
      if (written.length === pieces) finish()
    },
  } as unknown as StreamSink
  let turns = 0
  let isOver = false
  const counted = (async () => {
    for (; !isOver; turns++) await new Promise((go) => setImmediate(go))
  })()
  new CallerStream(open, begun).start(sink)
  await isWhole
  isOver = true
  await counted
  expect(written).toEqual(Array.from({ length: pieces }, (_, number) => number))
  expect(turns).toBeGreaterThan(8)
})
