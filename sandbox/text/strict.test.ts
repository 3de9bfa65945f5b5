// What makers refuse and the sandbox refuses on request only, in every text protocol.
import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { chatOf, postTo } from '../testing.ts'

const lenient = startSandbox()
const strict = startSandbox({ strict: true })
afterAll(() => Promise.all([lenient.stop(), strict.stop()]))

const long = 'x'.repeat(129)
const ask = { role: 'user', content: 'hi' }
const model = 'txta-plus'

const chatCall = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
})
const chatResult = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'ok' })
const chat = (...messages: object[]) => ({ model, messages })

const use = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'f', input: {} }],
})
const used = (tool_use_id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id, content: 'ok' }],
})
const messages = (...all: object[]) => ({ model, max_tokens: 10, messages: all })

const item = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' })
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'ok' })
const responses = (...input: object[]) => ({ model, input })

const parts = (role: string, ...all: object[]) => ({ role, parts: all })
const says = parts('user', { text: 'hi' })
const calls = parts('model', { functionCall: { name: 'f', args: {} } })
const answers = parts('user', { functionResponse: { name: 'f', response: {} } })
const generate = (...contents: object[]) => ({ contents })
const declares = (declared: object) => ({ tools: [{ functionDeclarations: [declared] }] })

const paths: Record<string, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate: '/v1beta/models/txta-plus:generateContent',
}

const sound: [protocol: string, body: object][] = [
  ['chat', chat(ask, chatCall('a'), chatResult('a'))],
  ['responses', responses(ask, item('a'), output('a'))],
  ['messages', messages(ask, use('a'), used('a'))],
  ['generate', generate(says, calls, answers)],
]

const broken: [protocol: string, body: object, message: string][] = [
  ['chat', chatOf('hi', { top_p: 1, topP: 1 }), 'Unrecognized request argument supplied: topP'],
  ['chat', chatOf('hi', { tools: [{ type: 'function', function: { name: long } }] }), 'tools[0]'],
  ['chat', chat(ask, chatCall('a')), 'did not have response messages: a'],
  ['chat', chat(ask, chatCall('a'), ask), 'did not have response messages: a'],
  ['chat', chat(ask, chatResult('a')), 'must be a response to a preceding message'],
  ['responses', { ...responses(ask), stop: ['x'] }, "Unknown parameter: 'stop'."],
  ['responses', { ...responses(ask), max_output_tokens: 5 }, 'below minimum value'],
  ['responses', responses(ask, item('a')), 'No tool output found for function call a.'],
  ['responses', responses(ask, output('a')), 'No tool call found'],
  ['responses', responses(ask, item(long), output(long)), 'string too long'],
  [
    'responses',
    responses({ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }),
    "Invalid value: 'input_text'.",
  ],
  ['responses', { ...responses(ask), tools: [{ type: 'function', function: {} }] }, 'function'],
  ['messages', { ...messages(ask), seed: 1 }, 'seed: Extra inputs are not permitted'],
  ['messages', { ...messages(ask), temperature: 1.5 }, 'temperature: range: 0..1'],
  ['messages', { ...messages(ask), tools: [{ name: long }] }, 'String should match pattern'],
  ['messages', messages({ role: 'assistant', content: 'x' }), 'first message must use'],
  [
    'messages',
    messages({ role: 'user', content: [{ type: 'text', text: ' ' }] }),
    'text content blocks must be non-empty',
  ],
  ['messages', messages(ask, use('a')), 'without `tool_result` blocks immediately after: a'],
  ['messages', messages(ask, used('a')), 'unexpected `tool_use_id`'],
  ['generate', { ...generate(says), messages: [] }, 'Unknown name \\"messages\\"'],
  ['generate', generate(calls, answers), 'The first content must be of the user.'],
  ['generate', generate(says, calls), 'calls without responses'],
  ['generate', generate(says, answers), 'number of function response parts'],
  ['generate', { ...generate(says), ...declares({ name: '1x' }) }, 'Invalid function name'],
  [
    'generate',
    { ...generate(says), ...declares({ name: 'x', parameters: { $schema: 'x' } }) },
    'Unknown name \\"$schema\\"',
  ],
]

describe('strict', () => {
  test.each(sound)('%s takes %j', async (protocol, body) => {
    expect((await postTo(strict.url + paths[protocol], body)).status).toBe(200)
  })

  test.each(broken)('%s refuses %j', async (protocol, body, message) => {
    const answer = await postTo(strict.url + paths[protocol], body)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)])
    expect((await postTo(lenient.url + paths[protocol], body)).status).toBe(200)
  })

  test('a directive asks for it too', async () => {
    const answer = await postTo(lenient.url + paths['chat'], chatOf('[[sim:strict]]', { x: 1 }))
    expect(answer.status).toBe(400)
  })
})
