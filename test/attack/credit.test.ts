// Many calls at once on one account, at one gateway and at several on one PostgreSQL: money that is
// there is found wherever it is leased, and money that is not there is never spent.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const million = '1000000.00'
// Input costs nothing where the amounts must be even.
const prices = `
prices:
  - { model: txta-plus, unit: token, per_million: { input: "0", output: "1000.00" } }
  - { model: txta-turbo, unit: token, per_million: { input: "800.00", output: "1000.00" } }
`

let released = Promise.withResolvers<void>()

/** Reports what the request's text says: `input=20000 output=5`; `held` waits until it is released. */
const truthful = ({ body }: { body: string }) => {
  const told = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(body)?.[1] ?? 1)
  const waitMs = Number(/wait=(\d+)/.exec(body)?.[1] ?? 0)
  const usage = { prompt_tokens: told('input'), completion_tokens: told('output') }
  const waited = /held/.test(body) ? released.promise : Bun.sleep(waitMs)
  return waited.then(() => jsonReply(completion(usage)))
}

const maxTries = 20

/** A machine that is busy with other things may make a gateway shed calls: that is not about money. */
async function ask(url: string, token: string, content: string, extra: object = {}) {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'txta-plus',
        messages: [{ role: 'user', content }],
        max_tokens: 1000,
        ...extra,
      }),
    })
    if (answer.status !== 503 || tries === maxTries) return answer
    await answer.text()
    await Bun.sleep(500)
  }
}

const served = (answers: readonly Response[]) =>
  answers.filter(({ status }) => status === 200).length

const statusesOf = (answers: readonly Response[]) =>
  [...new Set(answers.map(({ status }) => status))].sort()

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

if (!storeKinds.includes('postgres')) {
  console.error('left out: credit of gateways on PostgreSQL (set TEST_POSTGRES_URL)')
} else {
  describe.each([1, 2, 3])('with %d gateways on one PostgreSQL', (count) => {
    let place: Place
    let upstream: TestUpstream
    let gateways: TestGateway[] = []

    beforeAll(async () => {
      place = await newPlace('postgres')
      upstream = startUpstream(truthful)
      const config = `
accounts: [{ name: acme, balance: "${million}" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [upk-credit-0123456789]
    protocols: { chat: "${upstream.chat}" }
    models: { txta-plus: "*", txta-turbo: "*" }
    max_concurrency: 2000
${prices}`
      const env = {
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_DATABASE_URL: place.options.databaseUrl!,
      }
      gateways = await Promise.all(many(count, () => startGateway({ config, env })))
    })
    afterEach(async () => {
      released.resolve()
      const { body } = await gateways[0]!.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
    })
    afterAll(async () => {
      for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
      await upstream.stop()
      await place.remove()
    })

    const at = (i: number) => gateways[i % count]!.url
    const lossesOf = async (account: string) =>
      (await gateways[0]!.admin('GET', `/losses?account=${account}`)).body.items

    async function newAccount(name: string, balance: string): Promise<string> {
      await gateways[0]!.admin('POST', '/accounts', { name, balance })
      const { body } = await gateways[0]!.admin('POST', '/tokens', { account: name, name: 'x' })
      for (const { url } of gateways) {
        await until(`token of ${name}`, async () => {
          const headers = { authorization: `Bearer ${body.token}` }
          return (await fetch(`${url}/v1/models`, { headers })).status === 200 || undefined
        })
      }
      return body.token
    }

    test('400 calls at once are served where no credit was leased before', async () => {
      const answers = await Promise.all(many(400, (i) => ask(at(i), apiToken, 'output=5')))
      expect(statusesOf(answers)).toEqual([200])
      expect(await lossesOf('acme')).toEqual([])
    })

    test('calls whose input is far above the estimate are charged in full', async () => {
      const token = await newAccount('surprised', million)
      const lane = async (i: number) => {
        const extra = { model: 'txta-turbo', max_tokens: 5 }
        const statuses: number[] = []
        for (let turn = 0; turn < 10; turn++) {
          const { status } = await ask(at(i), token, 'input=20000 output=5', extra)
          statuses.push(status)
        }
        return statuses
      }
      const statuses = (await Promise.all(many(20, lane))).flat()
      expect(new Set(statuses)).toEqual(new Set([200]))
      expect(await lossesOf('surprised')).toEqual([])
      const { body } = await gateways[0]!.admin('GET', '/accounts/surprised')
      const each = 20_000n * 800_000n + 5n * 1_000_000n
      expect(nanos(body.balance)).toBe(nanos(million) - 200n * each)
    })

    test('a balance for exactly ten holds serves exactly ten of 200 calls', async () => {
      for (const round of ['first', 'second', 'third']) {
        const token = await newAccount(`ten-${round}`, '10.00')
        const call = (i: number) => ask(at(i), token, 'output=1000 wait=30')
        const answers = await Promise.all(many(200, call))
        expect(statusesOf(answers)).toEqual([200, 402])
        expect(served(answers)).toBe(10)
        const { body } = await gateways[0]!.admin('GET', `/accounts/ten-${round}`)
        expect(body).toMatchObject({ balance: '0.00', held: '0.00', available: '0.00' })
      }
    })

    test('what one gateway has leased and does not use serves a call at another', async () => {
      const token = await newAccount('moving', '10.00')
      for (let i = 0; i < 9; i++) {
        expect((await ask(at(i), token, 'output=1000')).status).toBe(200)
      }
      // One hold is left, wherever its parts are.
      expect((await ask(at(9), token, 'output=900')).status).toBe(200)
      expect((await ask(at(10), token, 'output=1', { max_tokens: 100 })).status).toBe(200)
      expect((await ask(at(11), token, 'output=1', { max_tokens: 100 })).status).toBe(402)
    })

    test('what calls hold at any gateway is in the held amount that each of them shows', async () => {
      const token = await newAccount('held', '100.00')
      released = Promise.withResolvers()
      const calls = many(6, (i) => ask(at(i), token, 'output=10 held'))
      await until('the calls', async () => {
        const { body } = await gateways[0]!.admin('GET', '/accounts/held')
        return body.held === '6.00' || undefined
      })
      for (const gateway of gateways) {
        const { body } = await gateway.admin('GET', '/accounts/held')
        expect(body).toMatchObject({ balance: '100.00', held: '6.00', available: '94.00' })
        const { body: list } = await gateway.admin('GET', '/accounts')
        const listed = list.items.find(({ name }: { name: string }) => name === 'held')
        expect(listed).toMatchObject({ held: '6.00', available: '94.00' })
      }
      released.resolve()
      expect(statusesOf(await Promise.all(calls))).toEqual([200])
    })
  })
}
