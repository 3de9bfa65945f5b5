// Image models that are priced by tokens: what the upstream reports is charged by rate, on both stores, and ledger,
// explanation, audit and the caller's answer tell it alike.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, errorOf, requestIdOf, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: images by tokens on PostgreSQL (set TEST_POSTGRES_URL)')
}

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const told = new Map<string, { usage?: unknown; data?: unknown[] }>()
const upstream = startUpstream(({ body }) => {
  const word = /case-\d+/.exec(body)?.[0] ?? ''
  const { usage, data = [{ b64_json: png }] } = told.get(word) ?? {}
  return jsonReply({ created: 1, data, ...(usage !== undefined && { usage }) })
})

const rates = { input: '5', output: '10', cache_read: '1.25', input_image: '8', output_image: '32' }
const config = {
  accounts: [
    { name: 'acme', balance: '1000' },
    { name: 'poor', balance: '0.10' },
  ],
  tokens: [
    { account: 'acme', name: 'test', token: apiToken },
    { account: 'poor', name: 'test', token: 'sk-poor-0123456789abcdefghijklmnop' },
  ],
  models: ['drawer', 'hourly', 'plain', 'small'].map((name) => ({
    name,
    kind: 'image',
    interfaces: ['images'],
    ...(name === 'small' && { max_output_tokens: 500 }),
  })),
  prices: [
    { model: 'drawer', unit: 'token', per_million: rates },
    {
      model: 'hourly',
      unit: 'token',
      per_million: rates,
      hours: [{ from: '00:00', to: '00:00', factor: '0.5' }],
    },
    { model: 'plain', unit: 'token', per_million: { input: '5', output: '40' } },
    { model: 'small', unit: 'token', per_million: rates },
  ],
  channels: [
    {
      name: 'up',
      keys: ['upk-0123456789'],
      protocols: { images: upstream.chat },
      models: { drawer: '*', hourly: '*', plain: '*', small: '*' },
    },
  ],
}
afterAll(() => upstream.stop())

let cases = 0

describe.each([...storeKinds])('images by tokens on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    gateway = await startGateway({
      config: JSON.stringify(config),
      dataDir,
      ...(databaseUrl !== undefined && { env: { GATEWAY_DATABASE_URL: databaseUrl } }),
    })
  })
  afterAll(async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect(body.findings ?? []).toEqual([])
    expect(body.ok).toBe(true)
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  async function draw(
    model: string,
    answer: { usage?: unknown; data?: unknown[] },
    fields: object = {},
    headers: Record<string, string> = {},
  ) {
    const word = `case-${++cases}`
    told.set(word, answer)
    const response = await gateway.post(
      '/v1/images/generations',
      { model, prompt: `a boat ${word}`, response_format: 'b64_json', ...fields },
      headers,
    )
    return response
  }
  /** The row of a request is written behind the answer. */
  const charged = async (answer: Response) => {
    await rowOf(gateway, requestIdOf(answer))
    return (await chargeOf(gateway, requestIdOf(answer)))!
  }
  const amountOf = async (answer: Response) => {
    expect(answer.status).toBe(200)
    await answer.text()
    return (await charged(answer)).amount
  }

  test('each part is charged by its rate, and everything tells it', async () => {
    const usage = {
      input_tokens: 1_000,
      input_tokens_details: { text_tokens: 300, image_tokens: 600, cached_tokens: 100 },
      output_tokens: 5_000,
      output_tokens_details: { text_tokens: 1_000, image_tokens: 4_000 },
      total_tokens: 6_000,
    }
    const answer = await draw('drawer', { usage })
    const body = (await answer.json()) as { usage: object }
    // 300 x 5 + 100 x 1.25 + 600 x 8 + 1,000 x 10 + 4,000 x 32, per million
    const charge = '0.144425'
    expect(answer.headers.get('x-gateway-charge')).toBe(charge)
    expect(body.usage).toEqual({
      ...usage,
      input_tokens_details: { text_tokens: 400, image_tokens: 600, cached_tokens: 100 },
    })
    const entry = await charged(answer)
    expect(entry).toMatchObject({ amount: `-${charge}`, unit: 'token', quantity: 6_000 })
    const { body: explained } = await gateway.admin('GET', `/explain/${requestIdOf(answer)}`)
    expect(explained).toMatchObject({ charge, estimated: false })
    expect(explained.usage).toMatchObject({ input_tokens: 1_000, output_image_tokens: 4_000 })
    for (const step of [
      'input: 300 x 5.00 per million = 0.0015',
      'cache_read: 100 x 1.25 per million = 0.000125',
      'input_image: 600 x 8.00 per million = 0.0048',
      'output: 1000 x 10.00 per million = 0.01',
      'output_image: 4000 x 32.00 per million = 0.128',
    ]) {
      expect(explained.steps).toContain(step)
    }
  })

  test.each<[string, string, object, string]>([
    // What is not told apart is of images.
    ['no details', 'drawer', { input_tokens: 100, output_tokens: 1_000 }, '-0.0325'],
    ['rates that are left out', 'plain', { input_tokens: 100, output_tokens: 1_000 }, '-0.0405'],
    ['hours', 'hourly', { input_tokens: 100, output_tokens: 1_000 }, '-0.01625'],
    [
      'parts above their whole',
      'drawer',
      {
        input_tokens: 100,
        input_tokens_details: { image_tokens: 9_999 },
        output_tokens: 10,
        output_tokens_details: { image_tokens: 9_999 },
      },
      '-0.00112',
    ],
    // At most what the model can make: 500 tokens.
    ['more than the model makes', 'small', { input_tokens: 100, output_tokens: 90_000 }, '-0.0165'],
  ])('%s', async (_name, model, usage, amount) => {
    expect(await amountOf(await draw(model, { usage }))).toBe(amount)
  })

  test('usage above the model raises an alert', async () => {
    const { body } = await gateway.admin('GET', '/alerts?kind=implausible_usage')
    expect(body.items.map(({ subject }: { subject: string }) => subject)).toContain('up')
  })

  test.each([undefined, null, {}, { output_tokens: 5 }, { input_tokens: -1, output_tokens: 'x' }])(
    'without usable usage the gateway counts: %j',
    async (usage) => {
      const answer = await draw('drawer', { usage }, { size: '1024x1024' })
      const { usage: shown } = (await answer.json()) as { usage: object }
      expect(shown).toMatchObject({ output_tokens: 4_096 })
      expect(await charged(answer)).toMatchObject({ estimated: true })
    },
  )

  test('of images that cannot be had, their part is a loss', async () => {
    const usage = { input_tokens: 100, output_tokens: 3_000 }
    const data = [{ b64_json: png }, { b64_json: png }, { url: 'http://127.0.0.1:1/gone.png' }]
    const answer = await draw('drawer', { usage, data }, { n: 3 })
    expect(await amountOf(answer)).toBe('-0.0645')
    const { body } = await gateway.admin('GET', '/losses')
    const [loss] = body.items.filter(({ reason }: { reason: string }) => reason === 'not_delivered')
    expect(loss).toMatchObject({ amount: '0.032', unit: 'token', quantity: 1_000 })
  })

  test('the hold is for the dearest, and nothing is sent without it', async () => {
    const poor = { authorization: 'Bearer sk-poor-0123456789abcdefghijklmnop' }
    const before = upstream.calls.length
    // 4,506 image tokens at 32 per million are more than 0.10.
    const answer = await draw('drawer', {}, { size: '1024x1024' }, poor)
    expect([answer.status, (await errorOf(answer)).code]).toEqual([402, 'insufficient_quota'])
    expect(upstream.calls.length).toBe(before)
    const cheap = await draw('small', { usage: { input_tokens: 9, output_tokens: 9 } }, {}, poor)
    expect(cheap.status).toBe(200)
  })

  test('bills have it by tokens', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const { body } = await gateway.admin('GET', `/bills?account=acme&month=${month}`)
    const row = body.totals.find(({ model }: { model: string }) => model === 'drawer')
    expect(row).toMatchObject({ model: 'drawer', unit: 'token' })
  })
})
