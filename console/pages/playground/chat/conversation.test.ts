import { expect, test } from 'bun:test'
import {
  conversationFrom,
  emptySetUp,
  isImageAddress,
  problemsIn,
  toolsIn,
  withoutImages,
} from './conversation.ts'

test('tools are read in the shape of every style, and what is none is left out', () => {
  const named = { name: 'sky', parameters: { type: 'object' } }
  for (const given of [
    [named],
    [{ type: 'function', function: named }],
    [{ type: 'function', ...named }],
    [{ name: 'sky', input_schema: named.parameters }],
    [{ functionDeclarations: [named] }],
    named,
  ]) {
    expect(toolsIn(JSON.stringify(given))).toEqual([named])
  }
  expect(toolsIn('')).toEqual([])
  expect(toolsIn('[1, null, {"type": "web_search"}]')).toEqual([])
})

test('what is no JSON is named by its field', () => {
  expect(problemsIn({ ...emptySetUp, tools: '[', more: '{}', schema: '{' })).toEqual({
    tools: expect.any(String),
  })
  expect(problemsIn({ ...emptySetUp, format: 'json_schema', schema: '{' })).toEqual({
    schema: expect.any(String),
  })
})

test('a conversation from elsewhere is taken as far as it is one', () => {
  const from = conversationFrom({
    setUp: { system: 'a', temperature: 'hot', top_p: 0.5, format: 'xml', tools: 3, stream: false },
    prompt: 7,
    lanes: [
      [
        { role: 'user', text: 'hi', images: ['javascript:alert(1)', 'data:image/png;base64,AA'] },
        { role: 'system', text: 'x' },
        null,
      ],
      'no lane',
      [],
    ],
  })
  expect(from?.setUp).toEqual({
    ...{ system: 'a', top_p: 0.5, stop: '', stream: false },
    ...{ tools: '', format: 'text', schema: '', more: '' },
  })
  expect(from?.lanes).toEqual([
    [{ role: 'user', text: 'hi', images: ['data:image/png;base64,AA'] }],
    [],
  ])
  expect(conversationFrom(null)).toBeUndefined()
  expect(conversationFrom({ setUp: 'x' })).toBeUndefined()
})

test('images are on the web or inline, and no part of a link', () => {
  expect(
    ['https://a.example/x.png', 'http://a', 'data:image/webp;base64,AA'].every(isImageAddress),
  ).toBe(true)
  expect(['data:text/html;base64,AA', 'file:///a', 'x', 7].some(isImageAddress)).toBe(false)
  const answer = {
    role: 'assistant',
    text: 'b',
    thinking: '',
    calls: [],
    style: 'chat',
    model: 'a-1',
  } as const
  const shared = withoutImages({
    ...{ setUp: emptySetUp, prompt: '' },
    lanes: [
      [
        { role: 'user', text: 'a', images: ['data:image/png;base64,AA'] },
        { ...answer, native: { content: 'b', encrypted: 'z' } },
      ],
    ],
  })
  expect(shared.lanes).toEqual([[{ role: 'user', text: 'a', images: [] }, answer]])
})
