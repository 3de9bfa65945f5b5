// Large requests are translated in a thread: with the same result as small ones, and the gateway serves
// other callers meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { containersIn } from '../../src/lib/json/containers.ts'
import { isLong } from '../../src/providers/text/large/translation-thread.ts'
import type { Json } from '../../src/styles/common/conversation.ts'
import { askedDuring } from '../support/asked.ts'
import {
  modelOver,
  type OneWireStage,
  startOneWire,
  type Wire,
  wires,
} from '../support/one-wire.ts'
import { errorOf } from '../support/read.ts'

let stage: OneWireStage

beforeAll(async () => {
  stage = await startOneWire()
})
afterAll(() => stage.stop())

const turn = (index: number) => ({ role: index % 2 ? 'assistant' : 'user', content: `t${index}` })
const odd = { type: 'function', function: { name: 'a.tool with words', parameters: {} } }
const large = (wire: Wire, more: object = {}): Json => ({
  model: modelOver(wire),
  max_tokens: 20,
  messages: Array.from({ length: 5_001 }, (_, index) => turn(index)),
  ...more,
})
const chat = '/v1/chat/completions'

test('what is large, or has many parts, is for the thread', () => {
  const parts = (count: number): Json => ({ a: Array.from({ length: count }, () => ({})) })
  const cases: [Json, boolean][] = [
    [parts(5_000), false],
    [parts(10_000), true],
    [{ a: 'x'.repeat(100_000) }, false],
    [{ a: 'x'.repeat(150_000) }, true],
  ]
  for (const [fields, expected] of cases) {
    expect(isLong(JSON.stringify(fields), fields)).toBe(expected)
  }
  expect(containersIn({ a: [{}, { b: [] }], c: 1 }, 100)).toBe(5)
  expect(containersIn(parts(1_000_000), 50)).toBe(50)
})

describe.each(wires.filter((wire) => wire !== 'chat'))('a large request for %s', (wire) => {
  test('is sent whole, and answered', async () => {
    const [asked] = await askedDuring(stage.sandbox, async () => {
      const answer = await stage.gateway.post(chat, large(wire))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-gateway-translation')).toBe(`chat>${wire}`)
    })
    expect(asked!.body).toContain('"t0"')
    expect(asked!.body).toContain('"t5000"')
  })

  test('is streamed, and names its tools as the caller does', async () => {
    const tools = [odd]
    const answer = await stage.gateway.post(
      chat,
      large(wire, { tools, tool_choice: 'required', stream: true }),
    )
    const text = await answer.text()
    expect([answer.status, text.includes('[DONE]')]).toEqual([200, true])
    expect(text).toContain('a.tool with words')
  })

  test('is refused by the name of the field as a small one is', async () => {
    const answer = await stage.gateway.post(chat, large(wire, { logit_bias: { 1: 2 } }))
    const error = await errorOf(answer)
    expect([answer.status, error.param]).toEqual([400, 'logit_bias'])
  })
})

test('an answer does not repeat long fields of a large request', async () => {
  const answer = await stage.gateway.post('/v1/responses', {
    model: modelOver('chat'),
    input: 'Hi',
    instructions: 'x'.repeat(1_000_000),
    metadata: { a: 'b' },
  })
  const { instructions, metadata } = (await answer.json()) as Json
  expect([answer.status, instructions, metadata]).toEqual([200, null, { a: 'b' }])
})
