// Creates whose answer never came, over HTTP: those that can be found upstream are found, go on and
// are charged once; those that cannot end free. None is ever sent twice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { readAccount } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { isOver, readTaskLedger, readTasks, type TaskRow } from '../support/task-books.ts'

const native = '/arkvendor/api/v3/contents/generations/tasks'
const operations = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'
const picture = 'data:image/png;base64,aGk='

const video = (prompt: string, more: object = {}) => ({
  model: 'vfa-2.7-t2v',
  prompt,
  seconds: 5,
  resolution: '720p',
  ...more,
})
const task = (text: string, more: object = {}) => ({
  model: 'vidmodel-1-0-pro',
  content: [{ type: 'text', text }],
  ...more,
})
const operation = (prompt: string) => ({
  instances: [{ prompt }],
  parameters: { durationSeconds: 4 },
})

let sandbox: Sandbox
beforeAll(() => {
  sandbox = startSandbox({ taskSeconds: 0.2 })
})
afterAll(() => sandbox.stop())

const configWith = (unknownFor: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
tasks: { unknown_for: ${unknownFor} }
channels:
  - name: upstream
    keys: [upk-0123456789abcdef]
    models: { vfa-2.7-t2v: "*", vfa-2.7-i2v: "*", vidmodel-1-0-pro: "*", vendorg-video-1: "*" }
    protocols:
      vf: ${sandbox.protocols.vf}
      arkvendor: ${sandbox.protocols.arkvendor}
      vendorg: ${sandbox.protocols.vendorg}
`

const maxPolls = 1_000

async function ended(gateway: TestGateway, prompt: string): Promise<TaskRow> {
  for (let poll = 0; poll < maxPolls; poll++) {
    const row = (await readTasks(gateway)).find(({ request }) => request.prompt === prompt)
    if (row !== undefined && isOver(row)) return row
    await Bun.sleep(50)
  }
  throw new Error(`the task '${prompt}' never ended`)
}

async function kindsOf(gateway: TestGateway, id: string): Promise<string[]> {
  const entries = (await readTaskLedger(gateway)).filter(({ task_id }) => task_id === id)
  return entries.map(({ kind }) => kind).sort()
}

async function loseCreate(gateway: TestGateway, path: string, body: object): Promise<void> {
  const before = (await sandboxTasks(sandbox)).length
  const answer = await gateway.post(path, body)
  expect(answer.status).toBe(504)
  expect(answer.headers.get('x-should-retry')).toBe('false')
  const { error } = (await answer.json()) as { error: { code: unknown; reason?: string } }
  expect(error.reason ?? error.code).toBe('upstream_outcome_unknown')
  expect(await sandboxTasks(sandbox)).toHaveLength(before + 1)
}

describe('a create that was made upstream and never answered', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ config: configWith('15m') })
  })
  afterAll(() => gateway.stop())

  test.each([
    ['vf', '/v1/videos', video('vf [[sim:cut=0]]'), 'vf [[sim:cut=0]]'],
    ['arkvendor', native, task('ark [[sim:cut=0]]'), 'ark [[sim:cut=0]]'],
  ])('is found by %s, read by its caller, and charged once', async (_name, path, body, prompt) => {
    await loseCreate(gateway, path, body)
    const row = await ended(gateway, prompt)
    expect(row.state).toBe('succeeded')
    const upstream = (await sandboxTasks(sandbox)).find(({ id }) => id === row.upstream_id)
    expect(upstream).toMatchObject({ state: 'succeeded' })
    expect(await kindsOf(gateway, row.id)).toEqual(['charge', 'hold', 'release'])
    const headers = { authorization: `Bearer ${apiToken}` }
    const read = await fetch(`${gateway.url}/v1/videos/${row.id}`, { headers })
    expect(await read.json()).toMatchObject({ status: 'completed', error: null })
    expect((await readAccount(gateway)).held).toBe('0.00')
  })

  test('shows nothing of the marker to a caller of native tasks', async () => {
    const prompt = 'unseen [[sim:cut=0]]'
    await loseCreate(gateway, native, task(prompt))
    const { id } = await ended(gateway, prompt)
    const headers = { authorization: `Bearer ${apiToken}` }
    const read = await (await fetch(`${gateway.url}${native}/${id}`, { headers })).text()
    expect(read).toContain('"succeeded"')
    expect(read).not.toContain('safety_identifier')
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    expect(JSON.stringify(body)).not.toContain('safety_identifier')
  })
})

describe('a create that nobody can be certain of', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ config: configWith('1s') })
  })
  afterAll(() => gateway.stop())

  const inputReference = { model: 'vfa-2.7-i2v', input_reference: picture }
  const itsOwn = { safety_identifier: 'user-7' }
  test.each([
    ['vendorg, which lists nothing', operations, operation('g [[sim:cut=0]]'), 'g [[sim:cut=0]]'],
    [
      'vf with a picture, which is never told back',
      '/v1/videos',
      video('pic [[sim:cut=0]]', inputReference),
      'pic [[sim:cut=0]]',
    ],
    [
      'arkvendor with the caller’s own identifier',
      native,
      task('own [[sim:cut=0]]', itsOwn),
      'own [[sim:cut=0]]',
    ],
  ])('ends free: %s', async (_name, path, body, prompt) => {
    await loseCreate(gateway, path, body)
    const row = await ended(gateway, prompt)
    expect(row).toMatchObject({ state: 'failed', upstream_id: null })
    expect(await kindsOf(gateway, row.id)).toEqual(['hold', 'release'])
    expect((await readAccount(gateway)).held).toBe('0.00')
  })
})

describe('a gateway that dies between the answer of its upstream and its own row', () => {
  test.each([
    ['vf', '/v1/videos', video('dead vf'), 'dead vf'],
    ['arkvendor', native, task('dead ark'), 'dead ark'],
  ])('finds the task when it is back (%s)', async (_name, path, body, prompt) => {
    const before = (await sandboxTasks(sandbox)).length
    const start = { config: configWith('2s'), dataDir: tempDir() }
    const dying = await startGateway({ ...start, env: { GATEWAY_CRASH_AT: 'task-answered' } })
    expect(await dying.post(path, body).catch(() => 'died')).toBe('died')
    await dying.stop('SIGKILL')
    expect(await sandboxTasks(sandbox)).toHaveLength(before + 1)
    const gateway = await startGateway(start)
    try {
      const row = await ended(gateway, prompt)
      expect(row.state).toBe('succeeded')
      expect(await kindsOf(gateway, row.id)).toEqual(['charge', 'hold', 'release'])
      expect(await sandboxTasks(sandbox)).toHaveLength(before + 1)
    } finally {
      await gateway.stop()
    }
  })
})
