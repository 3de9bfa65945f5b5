// Three gateways on one PostgreSQL, seen from outside: one balance that cannot be overdrawn, one
// catalog, one set of tasks; and what a gateway takes with it when it dies comes back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LoggedCall } from '../sandbox/call-log.ts'
import { type Sandbox, startSandbox } from '../sandbox/server.ts'
import { engines, newPlace, type Place } from '../src/store/test-engines.ts'
import { apiToken, startGateway, type TestGateway } from './support/gateway.ts'
import { nanos, until } from './support/read.ts'

const key = 'upk-many-0123456789abcdef'
// As in the money test: 13 tokens of input by the gateway's rough count, 1000 of output.
const content = '[[sim:tokens=1000]]'
const holdNanos = 13n * 800n + 1000n * 2000n
const masterKey = Buffer.alloc(32, 7).toString('base64')

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*" }
    max_concurrency: 1000
`

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

if (!engines.includes('postgres')) {
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
          GATEWAY_DATABASE_URL: place.options.databaseUrl!,
          GATEWAY_MASTER_KEY: masterKey,
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
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
      const token = await newAccount('poor', `0.${(holdNanos * 10n).toString().padStart(9, '0')}`)
      const askAt = (at: number) =>
        ask(gateways[at % 3]!.url, token, content, { max_tokens: 1000, user: 'poor' })
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
      const back = await gateways[0]!.admin('POST', '/accounts/mourned/credits', {
        amount: '-0.50',
        note: 'all of it',
      })
      expect(back.status).toBe(201)
      expect(await audit()).toMatchObject({ ok: true })
    })
  })
}

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
