// Marks for the prompt cache in requests of the channel's own style.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { callOf as textCallOf, upstreamWith } from '../common/test-client.ts'
import { messages, messagesStyle } from './index.ts'

const mark = '"cache_control":{"type":"ephemeral"}'

const callOf = (body: string) =>
  ({ body, fields: JSON.parse(body) }) as Partial<TextCall> as TextCall
const marked = (body: string) => messagesStyle.withCacheMarks!(callOf(body))

const user = (content: unknown) => ({ role: 'user', content })
const answer = (content: unknown) => ({ role: 'assistant', content })
const text = (value: string) => ({ type: 'text', text: value })

test('are on the instructions and on the last two turns of the user', () => {
  const body = JSON.stringify({
    system: 'Be brief.',
    tools: [{ name: 'read' }],
    messages: [user('one'), answer('1'), user([text('two'), text('more')]), answer('2'), user('3')],
  })
  const { body: sent, marks } = marked(body)!
  expect(marks).toBe(3)
  expect(JSON.parse(sent)).toEqual({
    system: [{ ...text('Be brief.'), cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'read' }],
    messages: [
      user('one'),
      answer('1'),
      user([text('two'), { ...text('more'), cache_control: { type: 'ephemeral' } }]),
      answer('2'),
      user([{ ...text('3'), cache_control: { type: 'ephemeral' } }]),
    ],
  })
})

test('leave every other byte as it is', () => {
  const body =
    ' {"messages" : [ {"content":"h\\u00e9 \\"}]", "role":"user"} ],\n "x":12345678901234567890, "system":"s" }'
  const { body: sent } = marked(body)!
  expect(sent).toBe(
    ` {"messages" : [ {"content":[{"type":"text","text":"h\\u00e9 \\"}]",${mark}}], "role":"user"} ],\n "x":12345678901234567890, "system":[{"type":"text","text":"s",${mark}}] }`,
  )
})

test('are on the last tool where there are no instructions', () => {
  const body = JSON.stringify({ tools: [{ name: 'a' }, { name: 'b' }], messages: [user('hi')] })
  const { body: sent, marks } = marked(body)!
  expect(marks).toBe(2)
  expect(sent).toContain(`{"name":"b",${mark}}`)
})

test('of one call are read by the next: the last turn is marked again', () => {
  const turns = [user('one'), answer('1'), user('two'), answer('2'), user('three')]
  const ask = (count: number) =>
    marked(JSON.stringify({ system: 's', messages: turns.slice(0, count) }))!.body
  expect(ask(3)).toContain(`"two",${mark}`)
  expect(ask(5)).toContain(`"two",${mark}`)
})

describe('are not set', () => {
  const one = { messages: [user('hi')] }
  const own = { cache_control: { type: 'ephemeral', ttl: '1h' } }

  test.each<[string, object]>([
    ['the request', { ...one, ...own }],
    ['the instructions', { ...one, system: [{ ...text('s'), ...own }] }],
    ['a tool', { ...one, tools: [{ name: 'a', ...own }] }],
    ['a block', { messages: [user([{ ...text('hi'), ...own }])] }],
    [
      'a part of a result',
      { messages: [user([{ type: 'tool_result', content: [{ ...text('r'), ...own }] }])] },
    ],
  ])('where the caller marks %s', (_, fields) => {
    expect(marked(JSON.stringify(fields))).toBeUndefined()
  })

  test('on what takes none: empty texts, thinking, deferred tools', () => {
    const thinking = { type: 'thinking', thinking: 't', signature: 's' }
    const messages = [user([text('hi'), text(' '), thinking])]
    const tools = [{ name: 'a' }, { name: 'b', defer_loading: true }]
    const { body } = marked(JSON.stringify({ tools, messages }))!
    expect(body.split(mark)).toHaveLength(3)
    expect(body).toContain(`{"name":"a",${mark}}`)
    expect(body).toContain(`"text":"hi",${mark}}`)
    expect(marked(JSON.stringify({ messages: [user(''), answer('x')] }))).toBeUndefined()
  })

  test('in a field that is given twice', () => {
    const { body, marks } = marked(
      '{"system":"a","messages":[{"role":"user","content":"hi"}],"system":"b"}',
    )!
    expect([marks, body.split(mark).length]).toEqual([1, 2])
  })
})

test('any request: without its marks it is the one that was given, and there are at most four', () => {
  const block = fc.oneof(
    fc.string().map(text),
    fc.constant({ type: 'tool_result', tool_use_id: 't', content: 'r' }),
    fc.constant({ type: 'thinking', thinking: 't' }),
  )
  const content = fc.oneof(fc.string(), fc.array(block, { maxLength: 3 }))
  const turn = fc.record({ role: fc.constantFrom('user', 'assistant'), content })
  const request = fc.record(
    {
      system: content,
      tools: fc.array(fc.record({ name: fc.string() })),
      messages: fc.array(turn),
    },
    { requiredKeys: ['messages'] },
  )
  const plain = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, each) => {
      if (key === 'cache_control') return undefined
      const isText = Array.isArray(each) && each.length === 1 && each[0]?.type === 'text'
      return isText ? each[0].text : each
    })
  fc.assert(
    fc.property(request, fc.constantFrom(undefined, 2), (given, space) => {
      const result = marked(JSON.stringify(given, undefined, space))
      if (result === undefined) return
      expect(result.body.split(mark).length - 1).toBe(result.marks)
      expect(result.marks).toBeLessThanOrEqual(4)
      expect(plain(JSON.parse(result.body))).toEqual(plain(given))
    }),
  )
})

describe('a request as it is sent', () => {
  const good = { body: '{"content":[],"model":"up-model"}' }

  test.each<[string, number, boolean, object, number | undefined]>([
    ['short', 9, false, { autoCache: true }, 1],
    ['longer than what is sent at once', 1_200_000, false, { autoCache: true }, 1],
    ['a stream', 9, true, { autoCache: true }, 1],
    ['for a channel without the setting', 9, false, {}, undefined],
    [
      'for an upstream that reads no marks',
      9,
      false,
      { autoCache: true, cacheControl: false },
      undefined,
    ],
  ])('%s', async (_, length, stream, settings, marks) => {
    const fields = { model: 'own', stream, messages: [user('x'.repeat(length))] }
    const { upstream, sent } = upstreamWith(good, settings)
    const call = textCallOf(fields, { interface: 'messages' })
    const reply = await messages.text!.send(call, upstream, new Cancellation())
    expect(reply).toMatchObject({ kind: stream ? 'stream' : 'json' })
    expect('cacheMarks' in reply ? reply.cacheMarks : undefined).toBe(marks)
    expect(sent[0]!.body.split(mark)).toHaveLength((marks ?? 0) + 1)
    expect(sent[0]!.body).toContain('"up-model"')
  })
})
