// Marks for the prompt cache in requests of the chat style.
import { expect, test } from 'bun:test'
import type { TextCall } from '../../contract/requests.ts'
import { chatStyle } from './index.ts'

const mark = '"cache_control":{"type":"ephemeral"}'
const marked = (body: string) =>
  chatStyle.withCacheMarks!({ body, fields: JSON.parse(body) } as Partial<TextCall> as TextCall)
const user = (content: unknown) => ({ role: 'user', content })
const text = (value: string) => ({ type: 'text', text: value })

test('are on the last instruction before the first turn, and on texts', () => {
  const body = JSON.stringify({
    messages: [
      { role: 'system', content: 'a' },
      { role: 'developer', content: [text('b')] },
      user('one'),
      { role: 'assistant', content: '1' },
      user([text('two'), { type: 'image_url', image_url: { url: 'https://up.example' } }]),
      { role: 'tool', tool_call_id: 't', content: 'r' },
    ],
  })
  const { body: sent, marks } = marked(body)!
  expect(marks).toBe(3)
  for (const value of ['b', 'one', 'two']) expect(sent).toContain(`"text":"${value}",${mark}}`)
  const own = { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }
  expect(marked(JSON.stringify({ messages: [user([own])] }))).toBeUndefined()
})
