// What a call cost, in its answer: a header on JSON answers, and inside the usage of those that ask for it, as JSON
// and as a stream, in every style. It is always the figure of the ledger.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requests, type Style, startPricedUpstream, styles } from '../support/priced-upstream.ts'
import { chargeOf, dataLines, requestIdOf, until } from '../support/read.ts'

const upstream = startPricedUpstream()
let gateway: TestGateway
beforeAll(async () => {
  const config = {
    accounts: [{ name: 'acme', balance: '1000' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    models: styles.map((style) => ({ name: `over-${style}`, kind: 'text', interfaces: [style] })),
    prices: styles.map((style) => ({
      model: `over-${style}`,
      unit: 'token',
      per_million: { input: '1', output: '2' },
    })),
    channels: styles.map((style) => ({
      name: `up-${style}`,
      keys: ['upk-0123456789'],
      protocols: { [style]: upstream.protocols[style] },
      models: { [`over-${style}`]: '*' },
    })),
  }
  gateway = await startGateway({ config: JSON.stringify(config), env: { GATEWAY_SANDBOX: 'on' } })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const told = {
  input: 11,
  output: 4,
  more: { cost: 0.5, cost_details: { upstream: 1 }, gateway: { charge: '9', currency: 'USD' } },
}
const note = (id: string) => ({ request_id: id, charge: '0.000019', currency: 'CNY' })

// biome-ignore lint/suspicious/noExplicitAny: answers of every style
type Json = Record<string, any>

const usageOf = (style: Style, answer: Json): Json | undefined =>
  style === 'generate' ? answer['usageMetadata'] : (answer['response']?.usage ?? answer['usage'])

let cases = 0

function ask(caller: Style, style: Style, stream: boolean, headers: Record<string, string>) {
  const word = `case-${++cases}-x`
  upstream.tell(word, told)
  const { path, body } = requests[caller](`over-${style}`, word, stream)
  return gateway.post(path, body, headers)
}

const ways = styles.flatMap((caller) => styles.map((style) => [caller, style] as const))

describe.each(ways)('%s over %s', (caller, style) => {
  test('a JSON answer says what it cost, and its usage nothing of any cost', async () => {
    const answer = await ask(caller, style, false, {})
    expect(answer.headers.get('x-gateway-charge')).toBe('0.000019')
    expect(answer.headers.get('x-gateway-currency')).toBe('CNY')
    const text = await answer.text()
    expect(text).not.toMatch(/gateway|cost/)
    expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe('-0.000019')
  })

  test('a body has it for who asks', async () => {
    const answer = await ask(caller, style, false, { 'x-gateway-include': 'charge' })
    const usage = usageOf(caller, (await answer.json()) as Json)
    expect(usage?.['gateway']).toEqual(note(requestIdOf(answer)))
    expect(JSON.stringify(usage)).not.toContain('cost')
  })

  test('a stream has it in the event with the final usage', async () => {
    const answer = await ask(caller, style, true, { 'x-gateway-include': 'Charge , other' })
    const text = await answer.text()
    expect(text).toContain('hi')
    const events = dataLines(text).filter((data) => data !== '[DONE]')
    const found = events
      .map((data) => usageOf(caller, JSON.parse(data))?.['gateway'])
      .filter((each) => each !== undefined)
    expect(found).toEqual([note(requestIdOf(answer))])
    expect(text).not.toContain('cost')
    expect(text.endsWith('\n\n')).toBe(true)
    if (caller === 'chat') expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe('-0.000019')
  })

  test('a stream has nothing of it for who does not ask', async () => {
    const answer = await ask(caller, style, true, {})
    expect(answer.headers.get('x-gateway-charge')).toBeNull()
    expect(await answer.text()).not.toContain('gateway"')
  })
})

test('a chat stream whose upstream reports nothing tells what is charged', async () => {
  const answer = await gateway.post(
    '/v1/chat/completions',
    {
      model: 'txta-plus',
      stream: true,
      messages: [{ role: 'user', content: '[[sim:no-usage]] hi' }],
    },
    { 'x-gateway-include': 'charge' },
  )
  const events = dataLines(await answer.text())
  expect(events.at(-1)).toBe('[DONE]')
  const charge = await chargeOf(gateway, requestIdOf(answer))
  expect(JSON.parse(events.at(-2)!).usage.gateway.charge).toBe(charge?.amount.slice(1))
})

test('embeddings and images say it, too, and what is refused does not', async () => {
  const vectors = await gateway.post('/v1/embeddings', { model: 'txta-embed', input: 'x' })
  const charge = await chargeOf(gateway, requestIdOf(vectors))
  expect(vectors.headers.get('x-gateway-charge')).toBe(charge!.amount.slice(1))
  const image = await gateway.post('/v1/images/generations', {
    model: 'imga-plus',
    prompt: 'a hill',
  })
  expect([image.status, image.headers.get('x-gateway-charge')]).toEqual([200, '0.20'])
  const refused = await gateway.post('/v1/chat/completions', { model: 'nobody', messages: [] })
  expect(refused.headers.get('x-gateway-charge')).toBeNull()
})

describe('a caller that leaves a JSON call', () => {
  const leave = async (path: string, body: object): Promise<Json> => {
    const leaving = new AbortController()
    const { url } = gateway
    const sent = fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => 'gone')
    await until('the call is under way', async () => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return /gateway_requests_in_flight(?:\{[^}]*\})? [1-9]/.test(text) || undefined
    })
    leaving.abort()
    await sent
    return until('its row', async () => {
      const { body: page } = await gateway.admin('GET', '/requests?limit=1')
      const [row] = page.items
      return row?.caller_left ? row : undefined
    })
  }
  const words = [{ role: 'user', content: '[[sim:delay=1s]] hello there' }]

  test.each<[string, object]>([
    ['/v1/chat/completions', { model: 'txta-plus', messages: words, max_tokens: 20 }],
    ['/v1/messages', { model: 'txta-plus', messages: words, max_tokens: 20 }],
    ['/v1/embeddings', { model: 'txta-embed', input: '[[sim:delay=1s]] hello' }],
  ])('of %s pays for the answer', async (path, body) => {
    const row = await leave(path, body)
    expect(row).toMatchObject({
      ending: 'caller_left',
      status: 499,
      caller_left: true,
      estimated: false,
    })
    expect(Number(row['charge'])).toBeGreaterThan(0)
    expect((await chargeOf(gateway, row['request_id']))?.amount).toBe(`-${row['charge']}`)
  })
})

describe('a client that gives up waiting and asks again', () => {
  const limits = { timeout: 400, maxRetries: 1, apiKey: apiToken }
  const asking = (content: string) => ({
    model: 'txta-plus',
    max_tokens: 20,
    messages: [{ role: 'user' as const, content: `[[sim:delay=1s]] ${content}` }],
  })
  const clients: Record<string, () => Promise<unknown>> = {
    openai: () =>
      new OpenAI({ ...limits, baseURL: `${gateway.url}/v1` }).chat.completions.create(
        asking('openai'),
      ),
    anthropic: () =>
      new Anthropic({ ...limits, baseURL: gateway.url }).messages.create(asking('anthropic')),
  }

  test.each(Object.keys(clients))('of %s is seen to', async (name) => {
    const from = new Date().toISOString()
    const outcome = await clients[name]!().catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(Error)
    const [again, first] = await until('both rows', async () => {
      const { body } = await gateway.admin('GET', `/requests?status=499&from=${from}`)
      return body.items.length === 2
        ? body.items.toSorted((a: Json, b: Json) => (a['at'] < b['at'] ? 1 : -1))
        : undefined
    })
    expect([first.retry, again.retry]).toEqual([undefined, 1])
    const { body } = await gateway.admin('GET', `/requests/${again.request_id}`)
    expect(body).toMatchObject({ retry: 1, retry_of: first.request_id, caller_left: true })
    const { body: listed } = await gateway.admin('GET', `/requests?retry=true&from=${from}`)
    expect(listed.items.map(({ request_id }: Json) => request_id)).toEqual([again.request_id])
    const { body: sums } = await gateway.admin('GET', '/traffic?by=interface')
    const use = name === 'openai' ? 'chat' : 'messages'
    expect(sums.items.find((row: Json) => row['interface'] === use).retries).toBe(1)
  })

  test('and one that lies about it changes nothing else', async () => {
    const hello = [{ role: 'user', content: 'hi' }]
    for (const count of ['0', '-1', '1e3', '9999999999', 'x']) {
      const answer = await gateway.post(
        '/v1/chat/completions',
        { ...asking(''), messages: hello },
        {
          'x-stainless-retry-count': count,
        },
      )
      const { body } = await gateway.admin('GET', `/requests/${requestIdOf(answer)}`)
      expect([body.status, body.retry]).toEqual([200, undefined])
    }
  })
})

test('the share of charges that are estimates is a metric', async () => {
  const count = async (usage: string) => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    const labels = `interface="chat",model="txta-turbo",usage="${usage}"`
    return Number(text.split(`gateway_charges_total{${labels}} `)[1]?.split('\n')[0])
  }
  const messages = (content: string) => [{ role: 'user', content }]
  for (const content of ['hi', '[[sim:no-usage]] hi', 'hi']) {
    const body = { model: 'txta-turbo', messages: messages(content) }
    await (await gateway.post('/v1/chat/completions', body)).text()
  }
  expect([await count('reported'), await count('estimated')]).toEqual([2, 1])
  const { body } = await gateway.admin('GET', '/usage?by=model')
  const row = body.items.find(({ model }: Json) => model === 'txta-turbo')
  expect(row).toMatchObject({ charges: 3, estimated: 1 })
})
