// Which calls belong to one conversation.
import { describe, expect, test } from 'bun:test'
import { identify, type Opening } from './conversation.ts'

const request = (headers: Record<string, string> = {}) => ({
  request: new Request('http://gateway.example', { headers }),
})
const of = (opening: Opening, headers?: Record<string, string>) =>
  identify(request(headers), opening)
const textOf = (opening: Opening) => of(opening).text

const user = (content: unknown) => ({ role: 'user', content })
const answer = { role: 'assistant', content: 'fine' }

describe('a name', () => {
  const all = { cacheKey: 'key', userId: 'user', turns: 'hi' }
  const session = { 'session-id': 'session' }

  test('is the cache key, else the session of a tool, else the user', () => {
    expect(of(all, session)).toMatchObject({ by: 'prompt_cache_key', text: 'key' })
    expect(of({ ...all, cacheKey: '' }, session)).toMatchObject({ by: 'session-id' })
    expect(of({ ...all, cacheKey: 7 })).toMatchObject({ by: 'metadata.user_id', text: 'user' })
    expect(of({ turns: 'hi' })).not.toHaveProperty('by')
  })

  test.each([
    'x-claude-code-session-id',
    'session-id',
    'session_id',
    'thread-id',
    'x-session-affinity',
    'x-session-id',
    'x-opencode-session',
    'x-qwen-code-session-id',
  ])('is in the header %s', (by) => {
    expect(of({ turns: 'hi' }, { [by]: '019a' })).toMatchObject({ by, text: '019a' })
  })

  test('has a limited length', () => {
    expect(of({ cacheKey: 'k'.repeat(99_999), turns: 'hi' }).text).toHaveLength(1_024)
  })
})

describe('a conversation without a name', () => {
  const opening = { instructions: 'Be brief.', tools: [{ name: 'read' }], turns: [user('hi')] }

  test('is the same in every turn', () => {
    const first = textOf(opening)
    expect(textOf({ ...opening, turns: [user('hi'), answer, user('and now?')] })).toBe(first)
    expect(textOf({ ...opening, turns: [user('hi'), answer, user('x'), answer] })).toBe(first)
  })

  test('is the same when marks move on, or a text becomes a part', () => {
    const cache_control = { type: 'ephemeral' }
    const marked = [user([{ type: 'text', text: 'hi', cache_control }]), answer]
    const instructions = [{ type: 'text', text: 'Be brief.', cache_control }]
    expect(textOf({ ...opening, instructions, turns: marked })).toBe(textOf(opening))
  })

  test.each<[string, Partial<Opening>]>([
    ['instructions', { instructions: 'Be long.' }],
    ['tools', { tools: [{ name: 'write' }] }],
    ['first turn', { turns: [user('hello')] }],
    ['end of a long first turn', { turns: [user(`${'x'.repeat(9_999)}y`)] }],
    ['message before the first turn', { turns: [{ role: 'system', content: 's' }, user('hi')] }],
  ])('is another one with another %s', (_, more) => {
    const base = { ...opening, turns: [user('hi')] }
    const long = { ...opening, turns: [user(`${'x'.repeat(9_999)}z`)] }
    expect(textOf({ ...base, ...more })).not.toBe(textOf(base))
    expect(textOf({ ...base, ...more })).not.toBe(textOf(long))
  })

  test('is known by a bounded part of it, however long or deep it is', () => {
    let deep: unknown = 'end'
    for (let i = 0; i < 50; i++) deep = [{ deep }]
    const many = Array.from({ length: 5_000 }, (_, i) => ({ name: 'n'.repeat(i) }))
    const turns = [user([...many, deep, 'x'.repeat(5_000_000)])]
    const { text } = of({ instructions: deep, tools: many, turns })
    expect(text.length).toBeLessThan(3 * 16 * 150)
  })
})

test.each<[string, boolean, unknown]>([
  ['a text', true, 'hi'],
  ['a first turn', true, [{ role: 'system', content: 's' }, user('hi')]],
  ['two turns of the user', true, [user('environment'), user('hi')]],
  ['an answer', false, [user('hi'), answer, user('go on')]],
  ['an answer of a model', false, [{ parts: [] }, { role: 'model', parts: [] }]],
  ['a call', false, [user('hi'), { type: 'function_call', name: 'read' }]],
  ['reasoning', false, [user('hi'), { type: 'reasoning', summary: [] }]],
  ['tools as an item', true, [{ type: 'additional_tools', tools: [] }, user('hi')]],
  ['nothing', true, undefined],
])('with %s, it being new is %p', (_, isNew, turns) => {
  expect(of({ turns }).isNew).toBe(isNew)
})
