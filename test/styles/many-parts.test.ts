// Requests with very many parts of one kind: each is read and written in as many steps as it has parts.
// With a step for each pair of them, these tests would take minutes.
import { expect, test } from 'bun:test'
import { Refusal } from '../../src/contract/errors.ts'
import type { Json, StyleName } from '../../src/styles/common/conversation.ts'
import { styleNames } from '../../src/styles/common/conversation.ts'
import {
  type RequestWork,
  readRequest,
  writeRequest,
} from '../../src/styles/common/translate-request.ts'
import { styles } from '../../src/styles/index.ts'
import { usualSettings } from '../../src/styles/settings.ts'

const many = 30_000
/** More than a function takes as arguments. */
const manyParts = 70_000
const list = <T>(make: (index: number) => T, count = many): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

function workOf(from: StyleName, to: StyleName): RequestWork {
  const settings = { ...usualSettings[to], outputSchema: true }
  const target = { model: 'up', stream: false, maxOutputTokens: 100, strict: false }
  return {
    from: styles[from],
    to: styles[to],
    target: { ...target, realm: 'here', settings },
    envelopeKey: new Uint8Array(32),
    maxRequestBytes: 1e9,
    isCount: false,
  }
}

function translate(from: StyleName, to: StyleName, fields: Json) {
  const work = workOf(from, to)
  const body = JSON.stringify(fields)
  return writeRequest(work, readRequest(work, body, fields), body)
}

const part = () => ({ type: 'input_text', text: 'a' })
const ask = { role: 'user', content: 'a' }
const said = { role: 'user', parts: [{ text: 'a' }] }

/** By the caller's style. */
const requests: Partial<Record<StyleName, Record<string, Json>>> = {
  chat: {
    'allowed tools': {
      messages: [ask],
      tools: list((id) => ({ type: 'function', function: { name: `t${id}` } })),
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: list((id) => ({ function: { name: `t${many - 1 - id}` } })),
        },
      },
    },
  },
  responses: {
    parts: {
      input: [ask, { role: 'user', content: list(part, manyParts) }],
    },
    'instructions in parts': {
      instructions: [{ role: 'system', content: list(part, manyParts) }],
      input: 'a',
    },
    'results in reverse order': {
      input: [
        ask,
        ...list((id) => ({ type: 'function_call', call_id: `c${id}`, name: 'f', arguments: '{}' })),
        ...list((id) => ({
          type: 'function_call_output',
          call_id: `c${many - 1 - id}`,
          output: 'b',
        })),
      ],
    },
    'blocks of reasoning after calls': {
      input: [
        ask,
        ...list((id) => ({ type: 'function_call', call_id: `c${id}`, name: 'f', arguments: '{}' })),
        ...list(() => ({ type: 'reasoning', summary: [] })),
        ask,
      ],
    },
  },
  messages: {
    'dots in a signature': {
      max_tokens: 50,
      messages: [
        ask,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: `gw1${'.'.repeat(10_000_000)}` },
            { type: 'text', text: 'b' },
          ],
        },
        ask,
      ],
    },
  },
  generate: {
    'results by name': {
      contents: [
        said,
        { role: 'model', parts: list((id) => ({ functionCall: { name: `f${id}`, args: {} } })) },
        {
          role: 'user',
          parts: list((id) => ({
            functionResponse: { name: `f${many - 1 - id}`, response: { result: 'b' } },
          })),
        },
      ],
    },
  },
}

const cases = styleNames.flatMap((from) =>
  Object.entries(requests[from] ?? {}).map(([kind, fields]) => [from, kind, fields] as const),
)

test.each(cases)('a %s request with very many %s is translated', (from, _, fields) => {
  const to = from === 'generate' ? 'responses' : 'generate'
  const written = translate(from, to, { model: 'm', ...fields })
  if (written instanceof Refusal) throw written
  expect(written.body.length).toBeGreaterThan(50)
})
