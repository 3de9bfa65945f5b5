// Where the charge of a JSON answer is put into it: that of a long one by the thread, so that no other caller waits.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import type { AnswerStream, StreamSink } from '../../contract/caller-api.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { streamWithCharge, withCharge } from './charge-in-answer.ts'

const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

const place = { body: ['usage'], event: ['usage'], isFinal: () => false, sign: /$^/ }
const record = { requestId: 'req_1', atMs: 1, model: 'm', chargeNanos: 5n, charge: {} }
const charged = { record, currency: 'CNY' }
const note = { request_id: 'req_1', charge: '0.000000005', currency: 'CNY' }
const answer = (bytes: number) => JSON.stringify({ data: 'é'.repeat(bytes / 2), usage: { a: 1 } })

test('a short answer gets it at once', () => {
  const body = withCharge(answer(60_000), place, charged)
  expect(JSON.parse(body as string).usage).toEqual({ gateway: note, a: 1 })
  expect(threads).not.toHaveBeenCalled()
})

test.each([
  ['a text', (text: string) => text],
  ['bytes', (text: string) => new Uint8Array(Buffer.from(text))],
])('a long answer, given as %s, gets it in the thread of its account', async (_, as) => {
  const body = await withCharge(as(answer(5_000_000)), place, charged, 'acc_1')
  expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1'])
  const { data, usage } = JSON.parse(Buffer.from(body as Uint8Array).toString())
  expect(data.length).toBe(2_500_000)
  expect(usage).toEqual({ gateway: note, a: 1 })
})

test('an answer that is paid for goes out without it if the thread fails', async () => {
  threads.mockRejectedValueOnce(new Error('gone'))
  const bytes = new Uint8Array(Buffer.from(answer(100_000)))
  expect(await withCharge(bytes, place, charged)).toBe(bytes)
})

test('an answer that is not charged is not read', () => {
  const { charge: _, ...unpaid } = record
  const free = { ...charged, record: unpaid }
  const bytes = new Uint8Array(Buffer.from(answer(100_000)))
  expect(withCharge(bytes, place, free)).toBe(bytes)
  expect(threads).not.toHaveBeenCalled()
})

const inStream = {
  ...place,
  isFinal: ({ type }: Readonly<Record<string, unknown>>) => type === 'message_delta',
  sign: /"message_delta"/,
}
const eventOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const delta = eventOf({ type: 'content_block_delta', delta: 'é "message_delta' })
const final = { type: 'message_delta', usage: { a: 1 } }
const lastEvent = eventOf({ type: 'message_stop' })

function played(pieces: readonly Uint8Array[]): string {
  const out: Uint8Array[] = []
  const sink: StreamSink = {
    write(bytes) {
      out.push(Buffer.from(bytes))
      return undefined
    },
    end() {},
    cut() {},
  }
  const stream = { start: (to: StreamSink) => begun(to) }
  const begun = (to: StreamSink) => {
    for (const piece of pieces) to.write(piece)
    to.end()
  }
  streamWithCharge(stream as AnswerStream, inStream, charged).start(sink)
  return Buffer.concat(out).toString()
}

test('a stream gets it in its final usage, wherever its bytes are cut', () => {
  const bytes = Buffer.from(delta.repeat(3) + eventOf(final) + lastEvent)
  const usage = { gateway: note, a: 1 }
  const wanted = delta.repeat(3) + eventOf({ ...final, usage }) + lastEvent
  for (let at = 0; at <= bytes.length; at++) {
    expect(played([bytes.subarray(0, at), bytes.subarray(at)])).toBe(wanted)
  }
})

test('events without usage are not read, however many come at once', () => {
  const plain = eventOf({ type: 'content_block_delta', delta: 'a' }).repeat(50_000)
  const bytes = Buffer.from(plain + eventOf(final) + lastEvent)
  const parses = spyOn(JSON, 'parse')
  const text = played([bytes])
  const count = parses.mock.calls.length
  parses.mockRestore()
  expect(count).toBeLessThan(10)
  expect(text.startsWith(plain) && text.includes('"gateway"')).toBe(true)
})

const usageLast = { type: 'message_delta', x: 'é'.repeat(2_500_000), more: [{ usage: { b: 1 } }] }
const parts = (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

test.each([100_000_000, 65_537, 1_000_001])(
  'an event that is too large to wait gets it if its usage comes last, in pieces of %d bytes',
  (size) => {
    const large = { ...usageLast, usage: { a: 1, b: { c: '"usage":{' } }, end: '}' }
    const text = delta + eventOf(large) + lastEvent
    const wanted =
      delta + eventOf({ ...large, usage: { gateway: note, ...large.usage } }) + lastEvent
    expect(played(parts(text, size)) === wanted).toBe(true)
    // Its blank line may be missing.
    const cut = played(parts(text.slice(0, -lastEvent.length - 2), size))
    expect(cut === wanted.slice(0, -lastEvent.length - 2)).toBe(true)
    const empty = eventOf({ ...usageLast, usage: {} })
    expect(
      played(parts(empty, size)).endsWith(`,"usage":{"gateway":${JSON.stringify(note)}}}\n\n`),
    ).toBe(true)
  },
)

test('an event of many parts is joined once, not with each of them', () => {
  const text = delta + eventOf({ ...final, x: 'x'.repeat(1_900_000) }) + lastEvent
  const joins = spyOn(Buffer, 'concat')
  const out = played(parts(text, 16_384))
  const bytes = joins.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
  joins.mockRestore()
  expect(out).toContain('"gateway"')
  // And once more by this test.
  expect(bytes).toBeLessThan(3 * text.length)
})

test.each([100_000_000, 65_537])('of several large events the last gets it (%d bytes)', (size) => {
  const one = eventOf({ ...usageLast, usage: { a: 1 } })
  const two = eventOf({ ...usageLast, usage: { gateway: note, a: 1 } })
  expect(played(parts(one + one + lastEvent, size)) === one + two + lastEvent).toBe(true)
  const small = eventOf({ ...final, usage: { gateway: note, a: 1 } })
  expect(played(parts(one + eventOf(final) + lastEvent, size)) === one + small + lastEvent).toBe(
    true,
  )
})

test.each([0, 1])('no character of a large event is cut in two (%d letters before)', (count) => {
  for (const pairs of [40_000, 1_200_000]) {
    const large = { type: 'message_delta', x: 'a'.repeat(count) + '😀'.repeat(pairs) }
    const text = eventOf({ ...large, usage: { a: 1 } }) + lastEvent
    const wanted = eventOf({ ...large, usage: { gateway: note, a: 1 } }) + lastEvent
    expect(played(parts(text, 100_000_000)) === wanted).toBe(true)
  }
})

test('one whose usage is far from its end goes out as it is', () => {
  const large = eventOf({ ...final, x: 'x'.repeat(5_000_000) })
  const text = delta + large + lastEvent
  for (const size of [100_000_000, 65_537]) expect(played(parts(text, size)) === text).toBe(true)
})
