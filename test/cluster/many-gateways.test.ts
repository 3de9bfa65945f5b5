// Three gateways on one PostgreSQL, seen from outside: one balance that cannot be overdrawn, one
// catalog, one set of tasks; and what a gateway takes with it when it dies comes back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LoggedCall } from '../../sandbox/http/call-log.ts'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { hasRedisServer, type RedisServer, startRedis } from '../../src/lib/net/test-redis.ts'
import { newPlace, onServer, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { ledgerOf, nanos, until } from '../support/read.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { balanceForTen } from '../support/spending.ts'
import { isOver, readTasks } from '../support/task-books.ts'

const key = 'upk-many-0123456789abcdef'
const content = '[[sim:tokens=1000]]'
const masterKey = Buffer.alloc(32, 7).toString('base64')

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*", imga-plus: imga-t2i }
    max_concurrency: 1000
`

/** With these, whatever the last test asks for costs exactly 1.00. */
const evenPrices = `
prices:
  - { model: txta-plus, unit: token, per_million: { input: "0", output: "1000.00" } }
  - { model: vfa-2.7-t2v, unit: video_second, per_second: { 720p: "0.20", 1080p: "0.20" } }
  - { model: imga-plus, unit: image, per_image: "1.00" }
`
const masterEnv = {
  GATEWAY_MASTER_KEY: masterKey,
  GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
}

const ask = (url: string, token: string, content: string, extra: object = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'txta-plus',
      messages: [{ role: 'user', content }],
      ...extra,
    }),
  })

if (!storeKinds.includes('postgres')) {
  console.error('left out: several gateways on one PostgreSQL (set TEST_POSTGRES_URL)')
} else {
  describe('three gateways on one PostgreSQL', () => {
    let place: Place
    let sandbox: Sandbox
    let gateways: TestGateway[]

    const start = () =>
      startGateway({
        config: configFor(sandbox),
        env: {
          ...masterEnv,
          GATEWAY_DATABASE_URL: place.options.databaseUrl!,
        },
      })

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ key, taskSeconds: 1 })
      // At the same moment on an empty database: tables, accounts and prices are made once.
      gateways = await Promise.all([start(), start(), start()])
    })
    afterAll(async () => {
      for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
      await sandbox.stop()
      await place.remove()
    })

    const audit = async () => (await gateways[1]!.admin('POST', '/audit')).body

    async function newAccount(name: string, balance: string): Promise<string> {
      await gateways[0]!.admin('POST', '/accounts', { name, balance })
      const { body } = await gateways[0]!.admin('POST', '/tokens', { account: name, name: 'x' })
      await until(`token of ${name}`, async () => {
        const statuses = await Promise.all(gateways.map(({ url }) => modelsStatus(url, body.token)))
        return statuses.every((status) => status === 200) || undefined
      })
      return body.token
    }

    test('what the file declares is there once, whoever started first', async () => {
      const { body } = await gateways[2]!.admin('GET', '/accounts')
      expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['acme'])
      const { body: tokens } = await gateways[1]!.admin('GET', '/tokens')
      expect(tokens.items).toHaveLength(1)
    })

    test('200 calls at once over all three spend what ten can, and no more', async () => {
      const nothing = await newAccount('none', '0.000000001')
      const poor = { max_tokens: 1000, user: 'poor' }
      const refused = await ask(gateways[0]!.url, nothing, content, poor)
      const token = await newAccount('poor', await balanceForTen(refused))
      const askAt = (at: number) => ask(gateways[at % 3]!.url, token, content, poor)
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => askAt(i)))
      const statuses = answers.map(({ status }) => status)
      expect([...new Set(statuses)].sort()).toEqual([200, 402])
      // A hold that came back too late for those who waited can be had by the next.
      while ((await askAt(statuses.length)).status === 200) statuses.push(200)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      const sent = await callsWith(sandbox, 'poor')
      expect(sent).toBe(10)
      const { body: account } = await gateways[1]!.admin('GET', '/accounts/poor')
      expect(nanos(account.balance) >= 0n).toBe(true)
      expect(await audit()).toMatchObject({ ok: true, problems: [] })
    })

    test('200 calls at once over all three keep to a budget for ten, and a kill gives back what it held', async () => {
      const { body: nothing } = await gateways[0]!.admin('POST', '/tokens', {
        ...{ account: 'acme', name: 'no-budget', budget: { amount: '0', per: 'day' } },
      })
      const few = { max_tokens: 1000, user: 'few' }
      const refused = await ask(gateways[0]!.url, nothing.token, content, few)
      const budget = { amount: await balanceForTen(refused), per: 'month', zone: 'Asia/Shanghai' }
      const { body: made } = await gateways[1]!.admin('POST', '/tokens', {
        ...{ account: 'acme', name: 'few', budget },
      })
      await until('the token', async () => {
        const known = await Promise.all(gateways.map(({ url }) => modelsStatus(url, made.token)))
        return known.every((status) => status === 200) || undefined
      })
      const askAt = (at: number) => ask(gateways[at % 3]!.url, made.token, content, few)
      // Another gateway dies with a hold.
      const doomed = await start()
      const slow = { ...few, user: 'doomed' }
      const hanging = ask(doomed.url, made.token, '[[sim:delay=30s]]', slow).catch(() => undefined)
      await until('the call', async () => (await callsWith(sandbox, 'doomed')) === 1 || undefined)
      const stateAt = async (at: number) =>
        (await gateways[at]!.admin('GET', `/tokens/${made.id}`)).body.budget
      expect((await stateAt(0)).held).not.toBe('0.00')
      await doomed.stop('SIGKILL')
      await hanging
      await until('the hold', async () => (await stateAt(0)).held === '0.00' || undefined)
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => askAt(i)))
      const statuses = answers.map(({ status }) => status)
      expect([...new Set(statuses)].sort()).toEqual([200, 402])
      // A hold that came back too late for those who asked can be had by the next.
      while ((await askAt(statuses.length)).status === 200) statuses.push(200)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      expect(await callsWith(sandbox, 'few')).toBe(10)
      const states = await Promise.all([0, 1, 2].map(stateAt))
      for (const { spent, held, left } of states) {
        expect(nanos(spent) + nanos(left)).toBe(nanos(budget.amount))
        expect([held, nanos(left) >= 0n]).toEqual(['0.00', true])
      }
    })

    test('a budget that one sets holds at the others, and counts their calls in flight', async () => {
      const token = await newAccount('late-budget', '50.00')
      const { body } = await gateways[0]!.admin('GET', '/tokens?account=late-budget')
      const path = `/tokens/${body.items[0].id}`
      const leave = new AbortController()
      const slow = { max_tokens: 1000, user: 'in-flight' }
      const hanging = fetch(`${gateways[2]!.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          // A JSON call would be read on for a while.
          ...{ ...slow, model: 'txta-plus', stream: true },
          messages: [{ role: 'user', content: '[[sim:delay=60s]]' }],
        }),
        signal: leave.signal,
      }).catch(() => undefined)
      await until(
        'the call',
        async () => (await callsWith(sandbox, 'in-flight')) === 1 || undefined,
      )
      const set = (amount: string) =>
        gateways[0]!.admin('PATCH', path, { budget: { amount, per: 'month' } })
      const stateAt = async (at: number) => (await gateways[at]!.admin('GET', path)).body.budget
      const statusAt = async (at: number) =>
        (await ask(gateways[at]!.url, token, 'hi', { max_tokens: 1 })).status
      expect((await set('5.00')).status).toBe(200)
      await until('the hold', async () => (await stateAt(1)).held !== '0.00' || undefined)
      const { held } = await stateAt(0)
      await set(held)
      for (const at of [0, 1, 2]) {
        await until('no room', async () => (await statusAt(at)) === 402 || undefined)
      }
      leave.abort()
      await hanging
      await until('the end', async () => (await stateAt(1)).held === '0.00' || undefined)
      await set('5.00')
      for (const at of [0, 1, 2]) {
        await until('room', async () => (await statusAt(at)) === 200 || undefined)
      }
    })

    test('tokens, revocations and prices of one are in force at the others', async () => {
      const token = await newAccount('catalog', '1.00')
      const { body } = await gateways[1]!.admin('GET', '/tokens')
      const made = body.items.find(({ account }: { account: string }) => account === 'catalog')
      expect((await gateways[1]!.admin('DELETE', `/tokens/${made.id}`)).status).toBeLessThan(300)
      await until(
        'revoked',
        async () => (await modelsStatus(gateways[2]!.url, token)) === 401 || undefined,
      )
      const price = { model: 'txta-plus', unit: 'token', per_million: { input: '1', output: '7' } }
      expect((await gateways[2]!.admin('POST', '/prices', price)).status).toBe(201)
      await until('the new price', async () => {
        const answer = await ask(gateways[0]!.url, apiToken, 'price?')
        const id = answer.headers.get('x-request-id')!
        const { body } = await gateways[0]!.admin('GET', `/explain/${id}`)
        return JSON.stringify(body).includes('"output":"7') || undefined
      })
    })

    test('a change is in force everywhere although nobody could hear of it', async () => {
      const listeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query = 'SELECT 1')`
      const name = new URL(place.options.databaseUrl!).pathname.slice(1)
      for (let round = 0; round < 3; round++) {
        const cut = onServer(listeners, name)
        const token = await newTokenAtLast(gateways[round]!, `unheard-${round}`)
        await cut
        for (const { url } of gateways) {
          const isKnown = async () => (await modelsStatus(url, token)) === 200 || undefined
          await until('the token', isKnown)
          const isReady = async () => (await fetch(`${url}/readyz`)).status === 200 || undefined
          await until('the gateway', isReady)
        }
      }
    })

    test('a task of one gateway is everybody’s', async () => {
      const created = await gateways[0]!.post('/v1/videos', {
        model: 'vfa-2.7-t2v',
        prompt: 'shared',
      })
      const { id } = (await created.json()) as { id: string }
      for (const gateway of gateways) {
        const isDone = async () =>
          (await readVideo(gateway, id)).status === 'completed' || undefined
        await until('the video', isDone)
      }
      const { body } = await gateways[2]!.admin('GET', `/tasks/${id}`)
      expect(body.state ?? body.status).toMatch(/succeeded|completed/)
      expect(await audit()).toMatchObject({ ok: true })
    })

    test('what a killed gateway had drawn can be spent at the others', async () => {
      const doomed = await start()
      const token = await newAccount('mourned', '0.50')
      const isKnown = async () => (await modelsStatus(doomed.url, token)) === 200 || undefined
      await until('the token', isKnown)
      // Draws a part of the balance and dies with it, in the middle of a call.
      const slow = '[[sim:delay=30s]]'
      const hanging = ask(doomed.url, token, slow, { user: 'mourned' }).catch(() => undefined)
      const isSent = async () => (await callsWith(sandbox, 'mourned')) === 1 || undefined
      await until('the call', isSent)
      await doomed.stop('SIGKILL')
      await hanging
      const { body: account } = await gateways[0]!.admin('GET', '/accounts/mourned')
      expect(nanos(account.balance)).toBe(500_000_000n)
      // The database server lets go of the dead a moment later, when it reads that they are gone.
      const takeAll = { amount: '-0.50', note: 'all of it' }
      const isBack = async () => {
        const { status } = await gateways[0]!.admin('POST', '/accounts/mourned/credits', takeAll)
        return status === 201 || undefined
      }
      await until('what it had drawn', isBack)
      expect(await audit()).toMatchObject({ ok: true })
    })
  })

  if (!hasRedisServer) {
    console.error('left out: three gateways whose Redis is flushed (install redis-server)')
  } else describe('three gateways whose Redis is flushed all the time', flushed)
}

function flushed() {
  const rounds = 3
  const affordable = 10
  let place: Place
  let sandbox: Sandbox
  let redis: RedisServer
  let gateways: TestGateway[]

  beforeAll(async () => {
    place = await newPlace('postgres')
    sandbox = startSandbox({ key, taskSeconds: 1 })
    redis = await startRedis()
    const start = () =>
      startGateway({
        config: configFor(sandbox) + evenPrices,
        env: {
          ...masterEnv,
          GATEWAY_DATABASE_URL: place.options.databaseUrl!,
          GATEWAY_REDIS_URL: redis.url,
        },
      })
    gateways = await Promise.all([start(), start(), start()])
  })
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
    await redis.remove()
    await sandbox.stop()
    await place.remove()
  })

  /** Of every kind in turn, at every gateway in turn. */
  async function spendOne(at: number, token: string, user: string): Promise<number> {
    const { url } = gateways[at % 3]!
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const kind = Math.floor(at / 3) % 3
    const asked =
      kind === 0
        ? ask(url, token, content, { max_tokens: 1000, user })
        : kind === 1
          ? post('/v1/videos', { model: 'vfa-2.7-t2v', prompt: user, seconds: '5' })
          : post('/v1/images/generations', { model: 'imga-plus', prompt: user, n: 1 })
    const answer = await asked
    await answer.text()
    return answer.status
  }

  /** No other test uses this upstream. */
  const upstreamTasks = async () => (await sandboxTasks(sandbox)).length

  test('never let an account spend more than it has, whatever is asked for and changed meanwhile', async () => {
    for (let round = 0; round < rounds; round++) {
      const user = `flushed-${round}`
      const tasksBefore = await upstreamTasks()
      await gateways[0]!.admin('POST', '/accounts', { name: user, balance: `${affordable}.00` })
      const limits = { rpm: 100_000, concurrency: 10_000 }
      const made = { account: user, name: 'x', limits }
      const { body: token } = await gateways[0]!.admin('POST', '/tokens', made)
      for (const { url } of gateways) {
        await until('it', async () => (await modelsStatus(url, token.token)) === 200 || undefined)
      }
      let over = false
      const disturb = async (what: (turn: number) => Promise<unknown>) => {
        for (let turn = 0; !over; turn++) await what(turn)
      }
      const disturbances = [
        disturb(() => redis.ask('FLUSHALL')),
        disturb((turn) =>
          gateways[turn % 3]!.admin('PATCH', `/tokens/${token.id}`, {
            limits: { rpm: 100_000 + turn, concurrency: 10_000 },
          }),
        ),
      ]
      const spent = Array.from({ length: 200 }, (_, i) => spendOne(i, token.token, user))
      const statuses = await Promise.all(spent)
      over = true
      await Promise.all(disturbances)
      expect([...new Set(statuses)].sort()).toEqual([200, 402])
      // A hold that came back too late for those who waited can be had by the next.
      for (let at = 0, refused = 0; refused < 9; at++) {
        const status = await spendOne(at, token.token, user)
        statuses.push(status)
        refused = status === 200 ? 0 : refused + 1
      }
      const isQuiet = async () => (await readTasks(gateways[0]!)).every(isOver) || undefined
      await until('the end of all tasks', isQuiet)
      expect(statuses.filter((status) => status === 200)).toHaveLength(affordable)
      const tasks = (await upstreamTasks()) - tasksBefore
      expect((await callsWith(sandbox, user)) + tasks).toBe(affordable)
      const entries = await ledgerOf(gateways[1]!, user)
      expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(affordable)
      const { body: account } = await gateways[1]!.admin('GET', `/accounts/${user}`)
      expect([account.balance, account.held]).toEqual(['0.00', '0.00'])
      const { body } = await gateways[2]!.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
    }
  })
}

/** Refused while the gateway is out of touch with the others; then it works. */
const newTokenAtLast = (gateway: TestGateway, name: string): Promise<string> =>
  until('a new token', async () => {
    const { status, body } = await gateway.admin('POST', '/tokens', { account: 'acme', name })
    return status === 201 ? (body.token as string) : undefined
  })

async function modelsStatus(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
  await answer.text()
  return answer.status
}

async function readVideo({ url }: TestGateway, id: string): Promise<{ status: string }> {
  const answer = await fetch(`${url}/v1/videos/${id}`, {
    headers: { authorization: `Bearer ${apiToken}` },
  })
  return (await answer.json()) as { status: string }
}

async function callsWith(sandbox: Sandbox, user: string): Promise<number> {
  const listed = await fetch(`${sandbox.url}/_sandbox/calls`)
  const { calls } = (await listed.json()) as { calls: LoggedCall[] }
  return calls.filter((call) => call.user === user).length
}
