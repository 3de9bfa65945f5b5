// GATEWAY_WORKERS: several processes behind one port that behave as one gateway. They start, reload
// and end together, share one balance, and one that dies is replaced.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoggedCall } from '../../sandbox/http/call-log.ts'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { plainStart, refusedStart, secretsIn, sentenceIn } from '../support/process/plain-start.ts'
import { nanos, until } from '../support/read.ts'
import { balanceForTen } from '../support/spending.ts'
import { isOver, readTasks } from '../support/task-books.ts'

const key = 'upk-workers-0123456789abcdef'
const workers = 3
const content = '[[sim:tokens=1000]]'
const otherToken = 'sk-other-0123456789abcdefghijklmnop'
/** So many connections that no worker is left out. */
const everybody = 40

const configFor = (sandbox: Sandbox, tokens: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [${tokens}]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*" }
    max_concurrency: 1000
`
const tokenOf = (name: string, token: string) => `{ account: acme, name: ${name}, token: ${token} }`

/** A connection of its own: the kernel chooses a worker for each. */
const ask = (url: string, token: string, content: string, extra: object = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'txta-plus', messages: [{ role: 'user', content }], ...extra }),
    keepalive: false,
  })

const workersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function statusesFor(url: string, token: string): Promise<number[]> {
  const answers = Array.from({ length: everybody }, async () => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/v1/models`, { headers, keepalive: false })
    await answer.text()
    return answer.status
  })
  return [...new Set(await Promise.all(answers))]
}

/** Nobody among the workers says anything else. */
const allSay = (url: string, token: string, status: number) =>
  until(`${status} of all workers`, async () => {
    const statuses = await statusesFor(url, token)
    return (statuses.length === 1 && statuses[0] === status) || undefined
  })

async function callsWith(sandbox: Sandbox, user: string): Promise<LoggedCall[]> {
  const listed = await fetch(`${sandbox.url}/_sandbox/calls`)
  const { calls } = (await listed.json()) as { calls: LoggedCall[] }
  return calls.filter((call) => call.user === user)
}

if (!storeKinds.includes('postgres') || process.platform !== 'linux') {
  console.error('left out: several workers (set TEST_POSTGRES_URL, on Linux)')
} else {
  describe('three workers', () => {
    let place: Place
    let sandbox: Sandbox
    let gateway: TestGateway
    const configPath = join(tempDir(), 'gateway.yaml')
    const env = () => ({
      GATEWAY_WORKERS: String(workers),
      GATEWAY_DATABASE_URL: place.options.databaseUrl!,
      GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      GATEWAY_CONFIG: configPath,
    })
    const declare = (...tokens: string[]) =>
      writeFileSync(configPath, configFor(sandbox, tokens.join(', ')))
    const start = () => startGateway({ env: env() })
    const audit = async () => (await gateway.admin('POST', '/audit')).body

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ key, taskSeconds: 1 })
      declare(tokenOf('test', apiToken))
      gateway = await start()
    })
    afterAll(async () => {
      await gateway.stop()
      await sandbox.stop()
      await place.remove()
    })
    afterEach(async () => {
      expect(await audit()).toMatchObject({ ok: true, problems: [] })
    })

    async function newAccount(name: string, balance: string): Promise<string> {
      await gateway.admin('POST', '/accounts', { name, balance })
      const { body } = await gateway.admin('POST', '/tokens', { account: name, name: 'x' })
      await allSay(gateway.url, body.token, 200)
      return body.token
    }

    test('say that they are ready once', () => {
      expect(workersOf(gateway.pid)).toHaveLength(workers)
      expect(gateway.output().match(/Model Gateway/g)).toHaveLength(1)
      expect(gateway.output().match(/^ready /gm)).toHaveLength(1)
    })

    test('spend together what the account has, and no more', async () => {
      const poor = { max_tokens: 1000, user: 'poor' }
      const nothing = await newAccount('none', '0.000000001')
      const refused = await ask(gateway.url, nothing, content, poor)
      const token = await newAccount('poor', await balanceForTen(refused))
      const askOne = () => ask(gateway.url, token, content, poor)
      const answers = await Promise.all(Array.from({ length: 200 }, askOne))
      const statuses = answers.map(({ status }) => status)
      expect([...new Set(statuses)].sort()).toEqual([200, 402])
      while ((await askOne()).status === 200) statuses.push(200)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      expect(await callsWith(sandbox, 'poor')).toHaveLength(10)
      const { body: account } = await gateway.admin('GET', '/accounts/poor')
      expect(nanos(account.balance) >= 0n).toBe(true)
    })

    test('have one catalog: a token is made, changed and revoked for all of them', async () => {
      const token = await newAccount('catalog', '1.00')
      const { body } = await gateway.admin('GET', '/tokens')
      const { id } = body.items.find(({ account }: { account: string }) => account === 'catalog')
      await gateway.admin('DELETE', `/tokens/${id}`)
      await allSay(gateway.url, token, 401)
    })

    test('reload together', async () => {
      declare(tokenOf('other', otherToken))
      process.kill(gateway.pid, 'SIGHUP')
      await allSay(gateway.url, otherToken, 200)
      await allSay(gateway.url, apiToken, 401)
      writeFileSync(configPath, 'tokens: [{ account: nobody, name: t }]')
      process.kill(gateway.pid, 'SIGHUP')
      await until('the log', () => gateway.output().includes('not reloaded') || undefined)
      await allSay(gateway.url, otherToken, 200)
      // Asked of one worker, all of them reload.
      const refused = await gateway.admin('POST', '/reload')
      expect(refused.status).toBe(400)
      expect(refused.body.error.message).toContain(`${configPath}: channels is empty now`)
      declare(tokenOf('test', apiToken))
      const reloaded = await gateway.admin('POST', '/reload')
      expect(reloaded.body).toMatchObject({ file: configPath, changes: expect.any(Array) })
      await allSay(gateway.url, apiToken, 200)
      const told = () => gateway.output().match(/"configuration reloaded"/g)?.length ?? 0
      await until('the log', () => told() >= 2 || undefined)
      expect(told()).toBe(2)
    })

    test('outlive one of them: the calls of the others go on, and it is replaced', async () => {
      const before = workersOf(gateway.pid)
      const [victim] = before
      const slow = '[[sim:delay=700ms]][[sim:tokens=5]]'
      const askOne = () =>
        ask(gateway.url, apiToken, slow, { user: 'mourned' }).then(
          ({ status }) => status,
          () => 'cut off',
        )
      const asked = Array.from({ length: everybody }, askOne)
      const areAllSent = async () =>
        (await callsWith(sandbox, 'mourned')).length === everybody || undefined
      await until('the calls', areAllSent)
      process.kill(victim!, 'SIGKILL')
      const ends = await Promise.all(asked)
      expect([...new Set(ends)].sort()).toEqual([200, 'cut off'])
      const others = before.filter((pid) => pid !== victim)
      const seen = new Set<number>()
      const now = await until('a new worker', async () => {
        // One that is not ready yet gets no callers.
        for (const status of await statusesFor(gateway.url, apiToken)) seen.add(status)
        const alive = workersOf(gateway.pid).filter(isAlive)
        return alive.length === workers && !alive.includes(victim!) ? alive : undefined
      })
      expect(now).toEqual(expect.arrayContaining(others))
      for (let turn = 0; turn < 10; turn++) {
        for (const status of await statusesFor(gateway.url, apiToken)) seen.add(status)
      }
      expect([...seen]).toEqual([200])
    })

    test('look after each other’s tasks', async () => {
      const create = async (i: number) => {
        const body = { model: 'vfa-2.7-t2v', prompt: `film ${i}` }
        return (await gateway.post('/v1/videos', body)).status
      }
      const made = await Promise.all(Array.from({ length: 9 }, (_, i) => create(i)))
      expect([...new Set(made)]).toEqual([200])
      const rows = await until('their ends', async () => {
        const rows = await readTasks(gateway)
        return rows.every(isOver) ? rows : undefined
      })
      expect(rows.map(({ state }) => state)).toEqual(Array(9).fill('succeeded'))
    })

    test('do not share their port with another gateway', async () => {
      const port = new URL(gateway.url).port
      for (const count of ['1', '2']) {
        const more = { GATEWAY_PORT: port, GATEWAY_WORKERS: count }
        const { code, text } = await refusedStart({ env: { ...env(), ...more } })
        expect(code).toBe(78)
        expect(sentenceIn(text)).toContain(`port ${port} is already in use`)
      }
    })

    test('let streams end when they are asked to end, and end with 0', async () => {
      const slow = '[[sim:chunk=20ms]][[sim:tokens=60]]'
      const begun = await Promise.all(
        Array.from({ length: 12 }, () =>
          ask(gateway.url, apiToken, slow, { stream: true, user: 'drained' }),
        ),
      )
      const ended = gateway.stop('SIGTERM')
      const texts = await Promise.all(begun.map((answer) => answer.text()))
      expect(texts.every((text) => text.endsWith('data: [DONE]\n\n'))).toBe(true)
      expect(await ended).toBe(0)
      gateway = await start()
    })

    test('end when their supervisor is killed, and leave the port', async () => {
      const pids = workersOf(gateway.pid)
      await gateway.stop('SIGKILL')
      await until('their end', () => !pids.some(isAlive) || undefined)
      const port = Number(new URL(gateway.url).port)
      gateway = await startGateway({ env: env(), port })
      expect((await ask(gateway.url, apiToken, 'still there?')).status).toBe(200)
    })
  })

  test('workers show secrets once, and share the sandbox', async () => {
    const place = await newPlace('postgres')
    const env = { GATEWAY_WORKERS: '2', GATEWAY_DATABASE_URL: place.options.databaseUrl! }
    const started = await plainStart({ env })
    const secrets = secretsIn(started.stdout())
    expect([...new Set(secrets)]).toHaveLength(2)
    expect(started.stdout()).toEndWith(`\nready ${started.url}\n`)
    const token = secrets.find((secret) => secret.startsWith('sk-'))!
    const created = await fetch(`${started.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vfa-2.7-t2v', prompt: 'a film of [[sim:seconds=1]]' }),
    })
    const { id } = (await created.json()) as { id: string }
    await until('the film', async () => {
      const headers = { authorization: `Bearer ${token}` }
      const poll = await fetch(`${started.url}/v1/videos/${id}`, { headers, keepalive: false })
      const { status } = (await poll.json()) as { status: string }
      expect(status).not.toBe('failed')
      return status === 'completed' || undefined
    })
    expect(await started.stop()).toBe(0)
    await place.remove()
  })
}
