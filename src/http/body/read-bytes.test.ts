// Which bodies are gathered by the server and which piece by piece, and what is no UTF-8. What is read is the same.
import { afterEach, expect, spyOn, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import type { RequestContext } from '../request-context.ts'
import { readBytes } from './read-bytes.ts'
import { readJsonObject } from './read-json.ts'

const limits = { bodyBytes: 32 * 1024 * 1024, bodyMs: 5_000, jsonDepth: 8 }
const gathered = [spyOn(Request.prototype, 'arrayBuffer'), spyOn(Request.prototype, 'text')]
const threads = spyOn(WorkerThread.prototype, 'run')

afterEach(() => {
  for (const each of [...gathered, threads]) each.mockClear()
})

/** As a server has it, in pieces of a network. */
function contextFor(bytes: Uint8Array, declared: number | undefined) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / 300_000) }, (_, at) =>
    bytes.slice(at * 300_000, (at + 1) * 300_000),
  )
  const body = new ReadableStream({
    pull(controller) {
      const next = pieces.shift()
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
  })
  const headers = new Headers({ 'content-type': 'application/json' })
  if (declared !== undefined) headers.set('content-length', String(declared))
  const request = new Request('http://gateway/', { method: 'POST', body, headers })
  return { request, payer: 'acc_1' } as RequestContext
}

const isGathered = () => gathered.some((each) => each.mock.calls.length > 0)

test.each([
  [2_000_000, 2_000_000, true],
  [9_000_001, 9_000_001, false],
  [9_000_001, undefined, false],
])('%d bytes, of which %p are declared, are read', async (length, declared, byServer) => {
  const bytes = Buffer.alloc(length, 'a body ')
  const read = await readBytes(contextFor(bytes, declared), limits)
  expect(bytes.equals(read as Buffer)).toBe(true)
  expect(isGathered()).toBe(byServer)
})

test('a long body that has come at once is read in several turns', async () => {
  let turns = 0
  let isOver = false
  const counted = (async () => {
    for (; !isOver; turns++) await new Promise((go) => setImmediate(go))
  })()
  await readBytes(contextFor(Buffer.alloc(9_000_001), 9_000_001), limits)
  isOver = true
  await counted
  expect(turns).toBeGreaterThan(16)
})

test.each([8_999_999, 9_000_002])('9000001 bytes are no body of %d', async (declared) => {
  const read = await readBytes(contextFor(Buffer.alloc(9_000_001), declared), limits)
  expect(read).toBeInstanceOf(Refusal)
})

test.each([1_500_000, undefined])(
  'a body that is no UTF-8 is decoded in the thread (%p bytes are declared)',
  async (declared) => {
    const bytes = Buffer.from(`{"a":"${'x'.repeat(1_499_992)}"}`)
    expect(await readJsonObject(contextFor(bytes, declared), limits)).toHaveProperty('fields')
    expect(threads).not.toHaveBeenCalled()
    bytes[700_000] = 0xff
    const read = await readJsonObject(contextFor(bytes, declared), limits)
    expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1'])
    expect((read as { text: string }).text === bytes.toString()).toBe(true)
  },
)

test('a body of 128 KB is not too much work, whatever it has, and a longer one may be', async () => {
  const read = (length: number) => {
    let text = '{"list":['
    for (let i = 0; text.length < length - 24; i++) text += `{"key ${i}":"${i}"},`
    const bytes = Buffer.from(`${text}0]}`)
    return readJsonObject(contextFor(bytes, bytes.length), limits)
  }
  for (const length of [60_000, 70_000, 128 * 1024]) {
    expect(await read(length)).toHaveProperty('fields.list')
  }
  expect(await read(2_000_000)).toMatchObject({ code: 'request_too_large' })
})
