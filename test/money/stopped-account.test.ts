// An account whose books do not add up, from the outside: nothing that costs is begun for it at any
// gateway, all else goes on, and it is back when somebody has put the books right or takes it upon
// themselves.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import pg from 'pg'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf, until } from '../support/read.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: stopped accounts on PostgreSQL (set TEST_POSTGRES_URL)')
}

const key = 'upk-stopped-0123456789abcdef'
const otherToken = 'sk-other-0123456789abcdefghijklmno'
const film = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: '5', size: '1280x720' }
const picture = { model: 'imga-plus', prompt: 'a dog' }

const configFor = ({ protocols }: Sandbox) => `
accounts: [{ name: acme, balance: "100.00" }, { name: other, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${protocols.chat}", vf: "${protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*", imga-plus: imga-t2i }
`

describe.each([...storeKinds])('an account whose books do not add up, on %s,', (engine) => {
  let place: Place
  let sandbox: Sandbox
  /** More than one where there can be. */
  let gateways: TestGateway[]

  const start = () => {
    const { dataDir, databaseUrl } = place.options
    return startGateway({
      config: configFor(sandbox),
      ...(databaseUrl === undefined && { dataDir }),
      env: {
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  }
  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ key, taskSeconds: 2 })
    gateways = await Promise.all(engine === 'postgres' ? [start(), start()] : [start()])
  })
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
    await sandbox.stop()
    await place.remove()
  })

  /** Behind the gateway's back. */
  async function tamper(nanos: number): Promise<void> {
    const statement = `UPDATE accounts SET balance_nanos = balance_nanos + (${nanos}) WHERE name = 'acme'`
    const { dataDir, databaseUrl } = place.options
    if (databaseUrl === undefined) {
      const db = new Database(join(dataDir, 'gateway.db'), { readwrite: true })
      db.run('PRAGMA busy_timeout = 5000')
      db.run(statement)
      db.close()
      return
    }
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }

  const first = () => gateways[0]!
  const last = () => gateways.at(-1)!
  const audit = async () => (await first().admin('POST', '/audit')).body
  const openAlerts = async () => (await last().admin('GET', '/alerts?kind=books')).body.items
  const callsUpstream = async () => {
    const listed = await fetch(`${sandbox.url}/_sandbox/calls`)
    return ((await listed.json()) as { calls: unknown[] }).calls.length
  }
  const stopped = (gateway: TestGateway) =>
    until('the account is stopped', async () => {
      const answer = await gateway.chat('hello')
      return answer.status === 503 ? answer : undefined
    })

  test('begins nothing that costs, and goes on with everything else', async () => {
    expect((await first().chat('hello')).status).toBe(200)
    const running = (await (await first().post('/v1/videos', film)).json()) as { id: string }
    expect(await audit()).toMatchObject({ ok: true, problems: [] })
    await tamper(1)
    const { ok, problems } = await audit()
    expect(ok).toBe(false)
    expect(problems[0]).toMatchObject({ account: 'acme', check: 'balances' })
    expect(first().output()).toContain('does not add up')
    const { body: account } = await first().admin('GET', '/accounts/acme')
    expect(Date.parse(account.suspended_since)).toBeGreaterThan(0)

    const refused = await stopped(last())
    const { code, message } = await errorOf(refused)
    expect(code).toBe('account_stopped')
    expect(message).toContain('books')
    expect(refused.headers.get('retry-after')).toBeNull()
    const before = await callsUpstream()
    for (const gateway of gateways) {
      for (const [path, body] of [
        ['/v1/videos', film],
        ['/v1/images/generations', picture],
        [
          '/v1/chat/completions',
          { model: 'txta-plus', messages: [{ role: 'user', content: 'x' }] },
        ],
      ] as const) {
        expect((await gateway.post(path, body)).status).toBe(503)
      }
    }
    expect(await callsUpstream()).toBe(before)

    const read = (path: string) =>
      fetch(`${last().url}${path}`, { headers: { authorization: `Bearer ${apiToken}` } })
    expect((await read('/v1/models')).status).toBe(200)
    const ended = await until('the film is there', async () => {
      const task = (await (await read(`/v1/videos/${running.id}`)).json()) as { status: string }
      return task.status === 'completed' ? task : undefined
    })
    expect(ended.status).toBe('completed')
    const { body: task } = await last().admin('GET', `/tasks/${running.id}`)
    expect(task.charge).toBe('3.00')

    const others = await last().post(
      '/v1/chat/completions',
      { model: 'txta-plus', messages: [{ role: 'user', content: 'x' }] },
      { authorization: `Bearer ${otherToken}` },
    )
    expect(others.status).toBe(200)
  })

  test('is told to the administrator, and goes on when the books are right', async () => {
    const [alert] = await openAlerts()
    expect(alert).toMatchObject({ kind: 'books', resolved_at: null })
    const path = `/alerts/${alert.id}/resolve`
    const early = await last().admin('POST', path)
    expect(early.status).toBe(409)
    expect(early.body.error.message).toContain('the balance is')
    await tamper(-1)
    const { status, body } = await last().admin('POST', path)
    expect([status, body.resolved_at === null]).toEqual([200, false])
    expect(await openAlerts()).toEqual([])
    for (const gateway of gateways) {
      await until('it goes on', async () => (await gateway.chat('hello')).ok || undefined)
    }
    expect(await audit()).toMatchObject({ ok: true, problems: [] })
  })

  test('goes on with wrong books when somebody insists, who is noted', async () => {
    await tamper(1)
    expect((await audit()).ok).toBe(false)
    await stopped(first())
    const [alert] = await openAlerts()
    const path = `/alerts/${alert.id}/resolve`
    expect((await last().admin('POST', path, { force: true })).status).toBe(200)
    await until('it goes on', async () => (await first().chat('hello')).ok || undefined)
    const { body } = await last().admin('GET', '/audit-log?limit=1')
    expect(body.items[0]).toMatchObject({
      action: 'alert.resolve',
      subject: alert.id,
      after: { resolved: true, force: true },
    })
    await tamper(-1)
    expect((await audit()).ok).toBe(true)
  })
})
