// An answer fits the JSON schema that was asked for, in every text protocol.
import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../../server.ts'
import { chatOf, everyKind, fittingInput, postTo } from '../../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const upper = JSON.parse(JSON.stringify(everyKind), (name, value) =>
  name === 'type' && typeof value === 'string' ? value.toUpperCase() : value,
)
const json_schema = { name: 'weather', schema: everyKind }
const mime = { responseMimeType: 'application/json' }
const generate = '/v1beta/models/txta-plus:generateContent'
const contents = [{ parts: [{ text: 'hi' }] }]
const generated = ({ candidates }: Any) => candidates[0].content.parts[0].text

test.each<[path: string, body: object, text: (answer: Any) => string]>([
  [
    '/v1/chat/completions',
    chatOf('hi', { response_format: { type: 'json_schema', json_schema } }),
    ({ choices }) => choices[0].message.content,
  ],
  [
    '/v1/responses',
    { model: 'txta-plus', input: 'hi', text: { format: { type: 'json_schema', ...json_schema } } },
    ({ output }) => output[0].content[0].text,
  ],
  [
    '/v1/messages',
    chatOf('hi', {
      max_tokens: 1000,
      output_config: { format: { type: 'json_schema', schema: everyKind } },
    }),
    ({ content }) => content[0].text,
  ],
  [generate, { contents, generationConfig: { ...mime, responseJsonSchema: everyKind } }, generated],
  [generate, { contents, generationConfig: { ...mime, responseSchema: upper } }, generated],
])('%s %j', async (path, body, text) => {
  const answer = await (await postTo(sandbox.url + path, body)).json()
  expect(JSON.parse(text(answer))).toEqual(fittingInput)
})
