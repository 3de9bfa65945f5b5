import { describe, expect, test } from 'bun:test'
import { modelOf, wantsStream } from '../upstreams/raw-server.ts'
import {
  chatBody,
  hasMode,
  type Mode,
  payloads,
  problemWith,
  styles,
  tokensPerCall,
} from './index.ts'
import { deltaCount } from './shape.ts'

const streaming = styles.filter((style) => hasMode(style, 'stream'))

/** The data of every event, the end mark of chat left out. */
function dataOf(events: readonly string[]): Record<string, unknown>[] {
  const lines = events.join('').split('\n')
  return lines
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))
}

/** Every count of tokens in an answer, wherever its style keeps it. */
function totalTokens(usage: Record<string, unknown>): number {
  const { total_tokens, totalTokenCount, input_tokens, output_tokens } = usage as Record<
    string,
    number
  >
  return totalTokenCount ?? total_tokens ?? input_tokens! + output_tokens!
}

describe.each([...styles])('%s', (style) => {
  const payload = payloads[style]

  test('a request names a model and says whether it wants a stream', () => {
    for (const mode of ['json', 'stream'] as Mode[]) {
      const text = `POST ${payload.pathOf(mode, 'm')} HTTP/1.1\r\n\r\n${payload.requestBody(mode, 'm')}`
      expect(modelOf(text)).toBe('m')
      if (hasMode(style, mode)) expect(wantsStream(text)).toBe(mode === 'stream')
    }
  })

  test('a JSON answer names the model and reports the tokens that are charged', () => {
    const text = payload.jsonAnswer('m')
    const answer = JSON.parse(text)
    expect(answer.model ?? answer.modelVersion).toBe('m')
    expect(totalTokens(answer.usage ?? answer.usageMetadata)).toBe(tokensPerCall('json'))
    expect(problemWith(style, 'json', text)).toBeUndefined()
    expect(problemWith(style, 'json', text.replaceAll(/token/gi, 'x'))).toStartWith('no ')
  })
})

describe.each(streaming)('a stream of %s', (style) => {
  const { stream } = payloads[style]
  const events = stream!.events('m')

  test('is whole, and is not without a delta or its end', () => {
    expect(problemWith(style, 'stream', events.join(''))).toBeUndefined()
    const delta = events.findIndex((event) => event.includes(stream!.deltaMark))
    const lost = events.toSpliced(delta, 1).join('')
    expect(problemWith(style, 'stream', lost)).toBe(`${deltaCount - 1} deltas, expected 100`)
    expect(problemWith(style, 'stream', events.slice(0, -1).join(''))).toMatch(/^no |^99 deltas/)
  })

  test('has well-formed events that end in an empty line', () => {
    expect(events.every((event) => /\r?\n\r?\n$/.test(event))).toBe(true)
    expect(dataOf(events).length).toBeGreaterThanOrEqual(deltaCount)
  })
})

test('a responses stream numbers its events and ends with the whole response', () => {
  const data = dataOf(payloads.responses.stream!.events('m'))
  expect(data.map((event) => event['sequence_number'])).toEqual(data.map((_, i) => i))
  const last = data.at(-1) as { type: string; response: Record<string, unknown> }
  expect(last.type).toBe('response.completed')
  expect(last.response).toMatchObject({ status: 'completed', model: 'm' })
  expect(totalTokens(last.response['usage'] as object as Record<string, unknown>)).toBe(
    tokensPerCall('stream'),
  )
})

test('a messages stream names every event by its type and counts input first, output last', () => {
  const events = payloads.messages.stream!.events('m')
  for (const event of events) {
    const [, name, json] = /^event: (.*)\ndata: (.*)\n\n$/.exec(event)!
    expect(JSON.parse(json!).type).toBe(name!)
  }
  const data = dataOf(events)
  expect(data[0]).toMatchObject({
    type: 'message_start',
    message: { usage: { input_tokens: 120 } },
  })
  expect(data.at(-2)).toMatchObject({ type: 'message_delta', usage: { output_tokens: 100 } })
})

test('an embedding is 1024 numbers as Base64', () => {
  const { data } = JSON.parse(payloads.embeddings.jsonAnswer('m'))
  const bytes = Buffer.from(data[0].embedding, 'base64')
  expect(bytes.length).toBe(4096)
  const length = Math.hypot(...Array.from({ length: 1024 }, (_, i) => bytes.readFloatLE(i * 4)))
  expect(length).toBeCloseTo(1, 1)
})

test('a request of another size is as large as its name says, and names its model first', () => {
  const sizes = { '1kb': 1000, '50kb': 50_000, '2mb': 2_000_000, image: 2_000_000 } as const
  for (const [body, bytes] of Object.entries(sizes) as [keyof typeof sizes, number][]) {
    const text = chatBody({ mode: 'json', model: 'm', body, asksUsage: true })
    expect(text.length / bytes).toBeWithin(0.95, 1.1)
    expect(text).toStartWith('{"model":"m",')
  }
})

test('a stream without usage has none, and a caller that did not ask must get none', () => {
  const usual = { mode: 'stream', model: 'm', body: 'usual' } as const
  expect(chatBody({ ...usual, asksUsage: true })).toContain('include_usage')
  expect(chatBody({ ...usual, asksUsage: false })).not.toContain('include_usage')
  const plain = payloads.chat.stream!.events('m', false).join('')
  expect(problemWith('chat', 'stream', plain, { asksUsage: false })).toBeUndefined()
  expect(problemWith('chat', 'stream', plain)).toStartWith('no ')
  const counted = payloads.chat.stream!.events('m').join('')
  expect(problemWith('chat', 'stream', counted, { asksUsage: false })).toStartWith('there is ')
})
