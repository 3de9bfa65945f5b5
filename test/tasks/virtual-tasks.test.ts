// Tasks of virtual models: the next member takes what the first refuses; the row names who serves, and a
// gateway that dies in between neither loses the task nor charges it twice.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { requestIdOf, rowOf } from '../support/read.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { isOver, readTaskLedger, readTasks, type TaskRow } from '../support/task-books.ts'

const maxPolls = 1_000

let sandbox: Sandbox
let refuser: Bun.Server<undefined>
beforeAll(() => {
  sandbox = startSandbox({ taskSeconds: 0.2 })
  refuser = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ code: 'AccessDenied', message: 'not for you' }, { status: 403 }),
  })
})
afterAll(async () => {
  await refuser.stop(true)
  await sandbox.stop()
})

const config = () => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
tasks: { unknown_for: 1s }
models:
  - { name: clip, kind: video, virtual: [vfb-1.1-t2v, vfa-2.7-t2v] }
  - { name: writer, kind: text, virtual: [txta-plus, txta-turbo] }
channels:
  - name: refuser
    keys: [upk-0123456789abcdef]
    models: { vfb-1.1-t2v: "*", txta-plus: "*" }
    protocols:
      vf: "http://127.0.0.1:${refuser.port}"
      chat: "http://127.0.0.1:${refuser.port}"
  - name: upstream
    keys: [upk-0123456789abcdef]
    models: { vfa-2.7-t2v: "*", txta-turbo: "*" }
    protocols: { vf: "${sandbox.protocols.vf}", chat: "${sandbox.protocols.chat}" }
`

const create = (gateway: TestGateway, prompt: string) =>
  gateway.post('/v1/videos', { model: 'clip', prompt, seconds: 5, resolution: '720p' })

async function ended(gateway: TestGateway, prompt: string): Promise<TaskRow> {
  for (let poll = 0; poll < maxPolls; poll++) {
    const row = (await readTasks(gateway)).find(({ request }) => request.prompt === prompt)
    if (row !== undefined && isOver(row)) return row
    await Bun.sleep(50)
  }
  throw new Error(`the task '${prompt}' never ended`)
}

if (!storeKinds.includes('postgres')) {
  console.error('left out: tasks of virtual models on PostgreSQL (set TEST_POSTGRES_URL)')
}

test.each([...storeKinds])(
  'the next member takes a task that the first refuses, and is charged for, on %s',
  async (kind) => {
    const place = await newPlace(kind)
    const { dataDir, databaseUrl } = place.options
    const gateway = await startGateway({
      ...{ config: config(), dataDir },
      ...(databaseUrl !== undefined && { env: { GATEWAY_DATABASE_URL: databaseUrl } }),
    })
    const answer = await create(gateway, 'a boat')
    expect([answer.status, answer.headers.get('x-gateway-served-model')]).toEqual([
      200,
      'vfa-2.7-t2v',
    ])
    expect(await answer.json()).toMatchObject({ model: 'clip' })
    const row = await ended(gateway, 'a boat')
    expect(row).toMatchObject({ model: 'clip', served_model: 'vfa-2.7-t2v', channel: 'upstream' })
    const entries = (await readTaskLedger(gateway)).filter(({ task_id }) => task_id === row.id)
    expect(entries.map((entry) => entry.kind).toSorted()).toEqual(['charge', 'hold', 'release'])
    const text = await gateway.chat('hi', { model: 'writer' })
    expect([text.status, text.headers.get('x-gateway-served-model')]).toEqual([200, 'txta-turbo'])
    const id = requestIdOf(text)
    expect(await rowOf(gateway, id)).toMatchObject({ model: 'writer', served_model: 'txta-turbo' })
    const { body: explained } = await gateway.admin('GET', `/explain/${id}`)
    expect(explained.entries).toMatchObject([{ model: 'writer', served_model: 'txta-turbo' }])
    const { body: audit } = await gateway.admin('POST', '/audit')
    expect(audit.problems).toEqual([])
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  },
)

test('a kill between two members sends nothing twice and charges nothing that was not made', async () => {
  const dataDir = tempDir()
  const before = (await sandboxTasks(sandbox)).length
  const doomed = await startGateway({
    config: config(),
    env: { GATEWAY_CRASH_AT: 'task-moved' },
    dataDir,
  })
  await create(doomed, 'a storm').catch(() => {})
  await doomed.exited
  const gateway = await startGateway({ config: config(), dataDir })
  const row = await ended(gateway, 'a storm')
  expect(row).toMatchObject({ model: 'clip', served_model: 'vfa-2.7-t2v', state: 'failed' })
  expect((await sandboxTasks(sandbox)).length).toBe(before)
  const entries = (await readTaskLedger(gateway)).filter(({ task_id }) => task_id === row.id)
  expect(entries.map(({ kind }) => kind).toSorted()).toEqual(['hold', 'release'])
  expect(await gateway.stop()).toBe(0)
})
