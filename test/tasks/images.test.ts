// Pictures that take their time upstream, for a caller that waits: whoever dies in between, what was
// seen is paid for once and everything else is free.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { ledgerOf, until } from '../support/read.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { isOver, readTasks } from '../support/task-books.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: pictures that take their time on PostgreSQL (set TEST_POSTGRES_URL)')
}

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { vf: "${sandbox.protocols.vf}" }
    models: { imga-plus: imga-t2i }
`

describe.each([...storeKinds])('pictures that take their time, on %s,', (engine) => {
  let place: Place
  let sandbox: Sandbox
  let gateway: TestGateway

  const start = () => {
    const { dataDir, databaseUrl } = place.options
    return startGateway({
      config: configFor(sandbox),
      dataDir,
      env: {
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  }
  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ taskSeconds: 1 })
    gateway = await start()
  })
  afterAll(async () => {
    await gateway.stop()
    await sandbox.stop()
    await place.remove()
  })

  const draw = (prompt: string, extra: object = {}, headers: Record<string, string> = {}) =>
    gateway.post('/v1/images/generations', { model: 'imga-plus', prompt, n: 2, ...extra }, headers)
  const upstreamTasks = async () => (await sandboxTasks(sandbox)).length
  /** The upstream has it, and the gateway knows by which name. */
  const isUnderWay = () =>
    until('the upstream', async () => {
      const rows = await readTasks(gateway)
      return rows.find((row) => !isOver(row) && row.upstream_id !== null)
    })
  const charges = async () => (await ledgerOf(gateway)).filter(({ kind }) => kind === 'charge')
  const audit = async () => (await gateway.admin('POST', '/audit')).body

  test('are waited for, and paid for once they are there', async () => {
    const answer = await draw('a boat', { response_format: 'b64_json' })
    const { data } = (await answer.json()) as { data: { b64_json: string }[] }
    expect(answer.status).toBe(200)
    const files = data.map((each) => Buffer.from(each.b64_json, 'base64').toString('latin1', 1, 4))
    expect(files).toEqual(['PNG', 'PNG'])
    expect((await charges()).map(({ quantity }) => quantity)).toEqual([2])
  })

  test('cost nothing when the gateway dies while the caller waits', async () => {
    const before = (await charges()).length
    const waiting = draw('lost').catch(() => 'cut off')
    await isUnderWay()
    await gateway.stop('SIGKILL')
    expect(await waiting).toBe('cut off')
    gateway = await start()
    const rows = await until('the end', async () => {
      const all = await readTasks(gateway)
      return all.every(isOver) ? all : undefined
    })
    expect(rows.map(({ state }) => state).toSorted()).toEqual(['failed', 'succeeded'])
    expect(await charges()).toHaveLength(before)
    expect(await audit()).toMatchObject({ ok: true, problems: [] })
  })

  test('are had by asking again when they have a key, made once and paid for once', async () => {
    const key = { 'idempotency-key': 'drawn' }
    const made = await upstreamTasks()
    const before = (await charges()).length
    const waiting = draw('kept', {}, key).catch(() => 'cut off')
    await isUnderWay()
    await gateway.stop('SIGKILL')
    expect(await waiting).toBe('cut off')
    gateway = await start()
    const answer = await until('the pictures', async () => {
      const again = await draw('kept', {}, key)
      if (again.status === 200) return again
      expect(again.status).toBe(409)
      await again.text()
      return undefined
    })
    expect(answer.headers.get('idempotent-replayed')).toBe('true')
    const { data } = (await answer.json()) as { data: { url: string }[] }
    expect(data).toHaveLength(2)
    expect((await fetch(data[1]!.url)).headers.get('content-type')).toBe('image/png')
    expect(await upstreamTasks()).toBe(made + 1)
    expect(await charges()).toHaveLength(before + 1)
    expect(await audit()).toMatchObject({ ok: true, problems: [] })
  })
})
