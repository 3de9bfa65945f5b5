// Lines of a batch: what a long one is read as, which a thread does, and which are refused.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { byteLines } from '../../lib/text/byte-lines.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { bodyIn, checkLines, isLineRequest, longLineBytes, readLine } from './read-lines.ts'

const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

const endpoint = '/v1/embeddings'
const terms = { endpoint, jsonDepth: 8, accountId: 'acc_1' }
const lineOf = (body: string, id = 'a') =>
  `{"custom_id":"${id}","method":"POST","url":"${endpoint}","body":${body}}`

async function* pieces(text: string) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
const linesOf = (text: string) => byteLines(pieces(text), 32 * 1024 * 1024, longLineBytes)

test('a short line is read at once, a long one in the thread, as the turn of its account', async () => {
  const long = `{"n":1.0,"input":"${'é"'.replace('"', '\\"').repeat(100_000)}"}`
  const bodies: string[] = []
  for await (const line of linesOf(`\ufeff${lineOf('{"n":1.0}')}\n \n${lineOf(long, 'b')}\r\n`)) {
    const read = await readLine(line, terms)
    if (isLineRequest(read)) bodies.push(bodyIn(read))
  }
  expect(bodies[0]).toBe('{"n":1.0}')
  expect(bodies[1] === long).toBe(true)
  expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1'])
})

test('a mark before the first line is left out, however long that is', async () => {
  const text = `\ufeff${lineOf(`{"input":"${'x'.repeat(longLineBytes)}"}`)}`
  expect(await checkLines(linesOf(text), terms)).toEqual({ total: 1, errors: [] })
})

test.each<[string, string, string]>([
  ['a million empty objects', lineOf(`{"input":[${'{},'.repeat(1_000_000)}0]}`), 'line_too_large'],
  ['a key given twice', lineOf(`{"a":1,"a":"${'x'.repeat(longLineBytes)}"}`), 'invalid_json_line'],
  ['many levels', lineOf(`${'['.repeat(9)}"${'x'.repeat(longLineBytes)}"`), 'invalid_json_line'],
  ['no JSON', 'x'.repeat(longLineBytes + 1), 'invalid_json_line'],
  ['no object', `"${'x'.repeat(longLineBytes)}"`, 'invalid_json_line'],
  ['more than a request', 'x'.repeat(33 * 1024 * 1024), 'line_too_large'],
])('a line of %s is a mistake', async (_, text, code) => {
  const { errors } = await checkLines(linesOf(`${lineOf('{}')}\n${text}\n`), terms)
  expect(errors).toMatchObject([{ code, line: 2 }])
})
