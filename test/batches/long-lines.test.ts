// Lines of a batch whose requests and answers are long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { completion, startUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, line } from './client.ts'

/** As some upstreams write them: on many lines. */
const answer = {
  ...completion({ prompt_tokens: 5, completion_tokens: 5 }),
  choices: Array.from({ length: 3_000 }, (_, index) => ({
    ...{ index, finish_reason: 'stop' },
    message: { role: 'assistant', content: `line one\nline two of ${index} é` },
  })),
}
const asked: string[] = []
const upstream = startUpstream(({ body }) => {
  asked.push(body)
  const headers = { 'content-type': 'application/json' }
  return new Response(JSON.stringify(answer, null, 2), { headers })
})

let gateway: TestGateway
let client: BatchClient
beforeAll(async () => {
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "1000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
models: [{ name: plain, kind: text, interfaces: [chat] }]
prices: [{ model: plain, unit: token, per_million: { input: "1", output: "1" } }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${upstream.chat}" }
    models: { plain: up }
`,
  })
  client = new BatchClient(gateway.url, apiToken)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

test('go upstream as they are, and their answers into one line each', async () => {
  const lines = [0, 1].map((number) => line(number, `"${number}" ${'é\n'.repeat(100_000)}`))
  const batch = await client.run(lines)
  expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
  const sent = asked.map((body) => JSON.parse(body).messages[0].content).sort()
  expect(
    Bun.deepEquals(
      sent,
      lines.map(({ body }) => (body as typeof lineBody).messages[0]!.content),
    ),
  ).toBe(true)
  const output = answersIn(await client.content(batch.output_file_id))
  expect(output.map(({ custom_id: id }) => id).sort()).toEqual(['line-0', 'line-1'])
  for (const { response } of output) expect(response.body.choices).toEqual(answer.choices)
})
const lineBody = { messages: [{ content: '' }] }

test('of a shape that takes seconds to parse are a mistake of the batch', async () => {
  const objects = Array.from({ length: 1_000_000 }, () => ({}))
  const batch = await client.run([line(0, 'x'), line(1, 'x', { stop: objects })])
  expect(batch.status).toBe('failed')
  expect(batch.errors.data).toMatchObject([{ code: 'line_too_large', line: 2 }])
})
