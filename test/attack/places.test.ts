// One account that asks for more than a channel takes: the others are served all the same, whichever
// way it asks.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const places = 20
const tokenOf = (account: string) => `sk-${account}-0123456789abcdefghijklmnop`
const accounts = ['greedy', 'modest', 'third']
let sandbox: Sandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = startSandbox({ taskSeconds: 0.2 })
  const { chat, vf, images } = sandbox.protocols
  gateway = await startGateway({
    config: `
accounts:
${accounts.map((name) => `  - { name: ${name}, balance: "1000.00" }`).join('\n')}
tokens:
${accounts.map((name) => `  - { account: ${name}, name: x, token: ${tokenOf(name)} }`).join('\n')}
channels:
  - name: small
    keys: [upk-places-0123456789]
    protocols: { chat: "${chat}", vf: "${vf}", images: "${images}" }
    models: { "*": "*" }
    max_concurrency: ${places}
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
})

const post = (account: string, path: string, body: object, signal?: AbortSignal) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenOf(account)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  })

const chat = (account: string, content: string, signal?: AbortSignal) =>
  post(
    account,
    '/v1/chat/completions',
    { model: 'txta-plus', messages: [{ role: 'user', content }], max_tokens: 20 },
    signal,
  )

const image = (account: string, prompt: string, signal?: AbortSignal) =>
  post(account, '/v1/images/generations', { model: 'imga-plus', prompt, n: 1 }, signal)

const video = (account: string, prompt: string, signal?: AbortSignal) =>
  post(account, '/v1/videos', { model: 'vfa-2.7-t2v', prompt, seconds: '5' }, signal)

const busy = async () => {
  const { body } = await gateway.admin('GET', '/channels')
  return body.items.find(({ name }: { name: string }) => name === 'small').health.busy as number
}

const ways = { chat, image, video }

test.each(['chat', 'image'] as const)(
  '40 calls of one account on 20 places leave room for another: %s',
  async (way) => {
    const stop = new AbortController()
    const calls = Array.from({ length: 40 }, () =>
      ways[way]('greedy', '[[sim:delay=5s]]', stop.signal).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    await until('the places to fill', async () => (await busy()) >= places - 2 || undefined)
    expect(await busy()).toBe(places - 2)
    for (const account of ['modest', 'third']) {
      for (const ask of Object.values(ways)) {
        const { status } = await ask(account, 'quick')
        expect([account, ask.name, status]).toEqual([account, ask.name, 200])
      }
    }
    stop.abort()
    await Promise.all(calls)
    await until('the places to be free', async () => (await busy()) === 0 || undefined)
  },
)

test('those who wait are served in turn by account, not by who sent most', async () => {
  const order: string[] = []
  const ask = async (account: string) => {
    const { status } = await chat(account, '[[sim:delay=300ms]]')
    order.push(`${account} ${status}`)
  }
  const flood = Array.from({ length: 80 }, () => ask('greedy'))
  await until('the places to fill', async () => (await busy()) >= places - 2 || undefined)
  const others = Array.from({ length: 12 }, () => ask('modest'))
  await Promise.all(others)
  expect(order.filter((each) => each.startsWith('modest'))).toEqual(Array(12).fill('modest 200'))
  // Far less than all of the greedy ones came before them.
  expect(order.filter((each) => each.startsWith('greedy')).length).toBeLessThan(60)
  await Promise.all(flood)
})
