// Frames as the official codec writes them, in packets of any size.
import { expect, test } from 'bun:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import fc from 'fast-check'
import type { BodyReader, HttpAnswer } from '../../contract/http.ts'
import { EventStreamAnswer, type Frame } from './event-stream.ts'

const codec = new EventStreamCodec(toUtf8, fromUtf8)

const frames = fc.array(
  fc.record({
    headers: fc.dictionary(fc.stringMatching(/^[a-z:-]{1,20}$/), fc.string({ maxLength: 40 }), {
      maxKeys: 4,
    }),
    payload: fc.string({ maxLength: 300, unit: 'grapheme' }),
  }),
  { maxLength: 6 },
)

const encoded = ({ headers, payload }: Frame): Uint8Array =>
  codec.encode({
    headers: {
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
      ),
      Flag: { type: 'boolean', value: true },
      Count: { type: 'long', value: { bytes: new Uint8Array(8) } as never },
      Bytes: { type: 'binary', value: new Uint8Array([1, 2, 3]) },
      Id: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
      At: { type: 'timestamp', value: new Date(1_760_000_000_000) },
    },
    body: fromUtf8(payload),
  })

function cutAt(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!
    parts.push(bytes.subarray(at, at + size))
    at += size
  }
  return parts
}

function answerOf(parts: readonly Uint8Array[]): HttpAnswer {
  const left = [...parts]
  return {
    status: 200,
    header: () => 'application/vnd.amazon.eventstream',
    text: async () => '',
    read: async () => left.shift(),
    pipe(reader: BodyReader) {
      for (const part of left) if (!reader.take(part)) return
      reader.end()
    },
    resume() {},
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}

const write = (frame: Frame): string => `${JSON.stringify(frame)}\n`
const sizes = fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1, maxLength: 9 })

test('every frame arrives as it was, however it is cut, read and piped', async () => {
  await fc.assert(
    fc.asyncProperty(frames, sizes, async (given, cuts) => {
      const parts = cutAt(Buffer.concat(given.map(encoded)), cuts)
      const expected = given.map(write).join('')
      const answer = new EventStreamAnswer(answerOf(parts), write)
      expect(answer.header('content-type')).toBe('text/event-stream')
      expect(await answer.text(1_000_000)).toBe(expected)
      let piped = ''
      new EventStreamAnswer(answerOf(parts), write).pipe({
        take(bytes) {
          piped += Buffer.from(bytes).toString()
          return true
        },
        end() {
          piped += 'end'
        },
        fail(error) {
          throw error
        },
      })
      expect(piped).toBe(`${expected}end`)
    }),
    { numRuns: 200 },
  )
})

test('a bit that is wrong, or bytes that are missing, are found', async () => {
  const whole = Buffer.from(encoded({ headers: { a: 'b' }, payload: 'hello' }))
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length * 8 - 1), async (bit) => {
      const spoiled = Buffer.from(whole)
      spoiled[bit >> 3]! ^= 1 << (bit & 7)
      const answer = new EventStreamAnswer(answerOf([spoiled]), write)
      expect(await answer.text(1_000).catch(() => 'failed')).toBe('failed')
    }),
  )
  for (let length = 1; length < whole.length; length++) {
    const answer = new EventStreamAnswer(answerOf([whole.subarray(0, length)]), write)
    expect(await answer.text(1_000).catch(() => 'failed')).toBe('failed')
  }
})
