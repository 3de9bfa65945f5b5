// Files and batches through the official SDKs for Node and Python, unchanged, against the sandbox.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { python } from '../support/python.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const lines = ['red', 'green', 'blue'].map((word) => ({
  custom_id: word,
  method: 'POST',
  url: '/v1/embeddings',
  body: { model: 'txta-embed', input: word, dimensions: 4 },
}))
const text = lines.map((line) => JSON.stringify(line)).join('\n')

test('the SDK for Node uploads, runs, waits, reads and deletes', async () => {
  const client = new OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), 'colours.jsonl'),
    purpose: 'batch',
    expires_after: { anchor: 'created_at', seconds: 3600 },
  })
  expect([file.filename, file.expires_at! - file.created_at]).toEqual(['colours.jsonl', 3600])
  let batch = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/embeddings',
    completion_window: '24h',
    metadata: { job: 'colours' },
  })
  while (batch.completed_at == null) {
    await Bun.sleep(50)
    batch = await client.batches.retrieve(batch.id)
  }
  expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 })
  const output = await (await client.files.content(batch.output_file_id!)).text()
  const answers = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map(({ custom_id }) => custom_id)).toEqual(['red', 'green', 'blue'])
  expect(answers[0].response.body.data[0].embedding).toHaveLength(4)
  const listed: string[] = []
  for await (const each of client.batches.list({ limit: 1 })) listed.push(each.id)
  expect(listed).toEqual([batch.id])
  const kept: string[] = []
  for await (const each of client.files.list({ limit: 1 })) kept.push(each.id)
  expect(kept).toEqual([batch.output_file_id!, file.id])
  expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true })
  const unknown = client.batches.retrieve('batch_unknown')
  expect(await unknown.catch(({ status, code }) => [status, code])).toEqual([
    404,
    'batch_not_found',
  ])
})

const program = `
import json, sys, time
from openai import OpenAI
client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
file = client.files.create(file=open(sys.argv[3], 'rb'), purpose='batch')
batch = client.batches.create(input_file_id=file.id, endpoint='/v1/embeddings', completion_window='24h')
while batch.status not in ('completed', 'failed', 'expired', 'cancelled'):
    time.sleep(0.05)
    batch = client.batches.retrieve(batch.id)
output = client.files.content(batch.output_file_id).text
print(json.dumps({
    'status': batch.status,
    'total': batch.request_counts.total,
    'ids': [json.loads(line)['custom_id'] for line in output.splitlines()],
    'newest': client.batches.list(limit=1).data[0].id == batch.id,
    'purpose': client.files.retrieve(batch.output_file_id).purpose,
}))
`

if (python.has('openai')) {
  test('the SDK for Python does the same', async () => {
    const dir = tempDir()
    writeFileSync(join(dir, 'input.jsonl'), text)
    writeFileSync(join(dir, 'run.py'), program)
    const given = [`${gateway.url}/v1`, apiToken, join(dir, 'input.jsonl')]
    const child = Bun.spawn([python.program, join(dir, 'run.py'), ...given], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
      status: 'completed',
      total: 3,
      ids: ['red', 'green', 'blue'],
      newest: true,
      purpose: 'batch_output',
    })
  })
} else python.sayLeftOut('batches through the SDK for Python', 'openai')
