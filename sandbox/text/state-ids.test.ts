// The sandbox keeps no files, conversations or containers: their ids are unknown in every protocol.
import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { chatOf, postTo } from '../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const responses = (more: object) => ({ model: 'txta-plus', input: 'x', ...more })
const messages = (content: unknown, more: object = {}) =>
  chatOf(content, { max_tokens: 10, ...more })
const said = (content: object) => responses({ input: [{ role: 'user', content: [content] }] })
const contents = [{ role: 'user', parts: [{ text: 'x' }] }]

test.each<[field: string, path: string, body: object]>([
  ['file_id', '/v1/chat/completions', chatOf([{ type: 'file', file: { file_id: 'file-1' } }])],
  ['conversation', '/v1/responses', responses({ conversation: 'conv_1' })],
  ['conversation', '/v1/responses', responses({ conversation: { id: 'conv_1' } })],
  ['prompt', '/v1/responses', responses({ prompt: { id: 'pmpt_1' } })],
  ['file_id', '/v1/responses', said({ type: 'input_image', file_id: 'file-1' })],
  [
    'vector_store_ids',
    '/v1/responses',
    responses({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }),
  ],
  [
    'container',
    '/v1/responses',
    responses({ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }),
  ],
  ['container', '/v1/messages', messages('x', { container: 'container_1' })],
  [
    'file_id',
    '/v1/messages',
    messages([{ type: 'image', source: { type: 'file', file_id: 'file-1' } }]),
  ],
  [
    'cachedContent',
    '/v1beta/models/txta-plus:generateContent',
    { contents, cachedContent: 'cachedContents/1' },
  ],
])('%s at %s is not found', async (field, path, body) => {
  const answer = await postTo(sandbox.url + path, body)
  expect(answer.status).toBe(404)
  expect(await answer.text()).toContain(`'${field}'`)
})

test('arguments and schemas may have such names', async () => {
  const parameters = { type: 'object', properties: { file_id: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name: 'open', parameters } }]
  const answer = await postTo(`${sandbox.url}/v1/chat/completions`, chatOf('x', { tools }))
  expect(answer.status).toBe(200)
})
