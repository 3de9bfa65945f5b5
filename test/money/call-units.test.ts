// Calls that are charged by searches, characters or seconds, or not at all, over real HTTP and on both stores: what
// an upstream reports or the request has is charged to the nano, and every book tells it alike.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, chargeOf, errorOf, nanos, requestIdOf, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

const always = { from: '00:00', to: '00:00' }

/** Answers as the last part of the path of its channel says. */
const upstream = startUpstream(({ path, body }) => {
  const { documents = [] } = JSON.parse(body) as { documents?: string[] }
  const results = documents.map((_, index) => ({ index, relevance_score: 0.5 + index / 100 }))
  if (path === '/units/rerank') {
    const billed_units = { search_units: documents.length }
    return jsonReply({ id: 'up-1', results, meta: { billed_units, cost: 3 } })
  }
  if (path === '/tokens/rerank') {
    const usage = { total_tokens: 1_000, total_cost: 0.5 }
    return jsonReply({ model: 'secret-upstream', data: results, usage })
  }
  if (path === '/twice/rerank') {
    const again = [...results, { index: 0, relevance_score: 0.9 }, ...results]
    return jsonReply({ results: again, meta: { billed_units: { search_units: 1e6 } } })
  }
  if (path === '/odd/rerank') return jsonReply({ results: [{ index: 7, relevance_score: 1 }] })
  if (path === '/failing/rerank') return jsonReply({ error: { message: 'boom' } }, { status: 500 })
  return new Response('?', { status: 404 })
})
const ways = ['units', 'tokens', 'twice', 'odd', 'failing']

describe.each([...storeKinds])('calls by other units on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    const config = {
      accounts: [
        { name: 'acme', balance: '100.00' },
        { name: 'poor', balance: '0.01' },
      ],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'poor', name: 'poor', token: `${apiToken}-poor` },
      ],
      models: [
        ...ways.map((name) => ({ name: `rank-${name}`, kind: 'rerank', interfaces: ['rerank'] })),
        { name: 'rank-hours', kind: 'rerank', interfaces: ['rerank'] },
        { name: 'rank-by-token', kind: 'rerank', interfaces: ['rerank'] },
        { name: 'rank-both', kind: 'rerank', virtual: ['rank-failing', 'rank-units'] },
      ],
      prices: [
        ...ways.map((name) => ({ model: `rank-${name}`, unit: 'search', per_search: '0.002' })),
        {
          model: 'rank-hours',
          unit: 'search',
          per_search: '0.002',
          hours: [{ ...always, factor: '0.5' }],
        },
        { model: 'rank-by-token', unit: 'token', per_million: { input: '2', output: '0' } },
      ],
      channels: [
        ...ways.map((name) => ({
          name,
          keys: ['upk-0123456789'],
          protocols: { rerank: `${upstream.url}/${name}` },
          models: { [`rank-${name}`]: 'secret-upstream' },
        })),
        {
          name: 'more',
          keys: ['upk-0123456789'],
          protocols: { rerank: `${upstream.url}/units` },
          models: { 'rank-hours': '*' },
        },
        {
          name: 'by-token',
          keys: ['upk-0123456789'],
          protocols: { rerank: `${upstream.url}/tokens` },
          models: { 'rank-by-token': '*' },
        },
      ],
    }
    gateway = await startGateway({
      config: JSON.stringify(config),
      ...(databaseUrl === undefined && { dataDir }),
      env: {
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        GATEWAY_SANDBOX: 'on',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  const documents = ['one', { text: 'two' }, 'three']
  const rank = (fields: object, headers = {}) =>
    gateway.post('/v1/rerank', { query: 'which', documents, ...fields }, headers)

  test('searches are those of the upstream, and all books say so', async () => {
    const answer = await rank({ model: 'rank-units', top_n: 2, return_documents: true })
    const body = (await answer.json()) as Record<string, unknown>
    expect(body).toEqual({
      id: 'up-1',
      model: 'rank-units',
      results: [
        { index: 2, relevance_score: 0.52, document: { text: 'three' } },
        { index: 1, relevance_score: 0.51, document: { text: 'two' } },
      ],
      usage: { search_units: 3 },
    })
    expect(answer.headers.get('x-gateway-charge')).toBe('0.006')
    const sent = JSON.parse(upstream.calls.at(-1)!.body)
    expect(sent).toEqual({
      model: 'secret-upstream',
      query: 'which',
      documents: ['one', 'two', 'three'],
      top_n: 2,
    })
    const id = requestIdOf(answer)
    const entry = (await chargeOf(gateway, id))!
    expect([entry.amount, entry.unit, entry.quantity, entry.estimated]).toEqual([
      '-0.006',
      'search',
      3,
      false,
    ])
    const row = await rowOf(gateway, id)
    expect(row.usage).toMatchObject({ unit: 'search', quantity: 3 })
    const { body: explained } = await gateway.admin('GET', `/explain/${id}`)
    expect(explained.steps[0]).toContain('3 searches x 0.002 per search = 0.006')
  })

  test('each document comes once, and counts as one search at most', async () => {
    const answer = await rank({ model: 'rank-twice', return_documents: true })
    const { results } = (await answer.json()) as { results: object[] }
    expect(results).toEqual([
      { index: 0, relevance_score: 0.9, document: { text: 'one' } },
      { index: 2, relevance_score: 0.52, document: { text: 'three' } },
      { index: 1, relevance_score: 0.51, document: { text: 'two' } },
    ])
    expect(answer.headers.get('x-gateway-charge')).toBe('0.006')
    expect((await rowOf(gateway, requestIdOf(answer))).loss).toBe('1999.994')
  })

  test('large answers, and small ones that repeat a large request, are read alike', async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `document ${i}`)
    const large = await rank({ model: 'rank-units', documents: many, return_documents: true })
    const { model, results, usage } = (await large.json()) as Record<string, unknown>
    expect([model, usage]).toEqual(['rank-units', { search_units: 2_000 }])
    const last = { index: 1_999, relevance_score: 20.49, document: { text: 'document 1999' } }
    expect([(results as object[]).length, (results as object[])[0]]).toEqual([2_000, last])
    expect(large.headers.get('x-gateway-charge')).toBe('4.00')
    const long = { text: 'x'.repeat(100_000) }
    const wide = await rank({ model: 'rank-units', documents: [long], return_documents: true })
    expect(await wide.json()).toMatchObject({
      results: [{ index: 0, relevance_score: 0.5, document: long }],
      usage: { search_units: 1 },
    })
    const odd = await rank({ model: 'rank-odd', documents: [long], return_documents: true })
    expect([odd.status, (await errorOf(odd)).code]).toEqual([502, 'upstream_invalid_response'])
  })

  test('without search units a call is one search, and no document comes unasked', async () => {
    const answer = await rank({ model: 'rank-tokens' })
    const body = (await answer.json()) as Record<string, never>
    expect(Object.keys(body['results']![0]!)).toEqual(['index', 'relevance_score'])
    expect(body['usage']).toEqual({ total_tokens: 1_000, search_units: 1 } as never)
    expect(String(JSON.stringify(body))).not.toContain('secret')
    expect(answer.headers.get('x-gateway-charge')).toBe('0.002')
  })

  test('the same model can be priced by tokens, and a price can have hours', async () => {
    const byToken = await rank({ model: 'rank-by-token' })
    expect(byToken.headers.get('x-gateway-charge')).toBe('0.002')
    expect((await chargeOf(gateway, requestIdOf(byToken)))?.unit).toBe('token')
    const hours = await rank({ model: 'rank-hours' })
    expect(hours.headers.get('x-gateway-charge')).toBe('0.003')
    const { body } = await gateway.admin('GET', `/explain/${requestIdOf(hours)}`)
    expect(body.factors).toMatchObject([{ kind: 'hours', factor: '0.5' }])
  })

  test('failures cost nothing; a virtual model goes on with the next member', async () => {
    const before = (await accountOf(gateway)).balance
    expect((await rank({ model: 'rank-failing' })).status).toBe(502)
    const odd = await rank({ model: 'rank-odd' })
    expect([odd.status, (await errorOf(odd)).code]).toEqual([502, 'upstream_invalid_response'])
    expect((await rowOf(gateway, requestIdOf(odd))).loss).toBe('0.002')
    expect((await accountOf(gateway)).balance).toBe(before)
    const both = await rank({ model: 'rank-both' })
    expect(both.status).toBe(200)
    expect(both.headers.get('x-gateway-served-model')).toBe('rank-units')
    expect(both.headers.get('x-gateway-charge')).toBe('0.006')
  })

  test('the hold is for the most that the request can cost', async () => {
    const poor = { authorization: `Bearer ${apiToken}-poor` }
    const many = await rank({ model: 'rank-units', documents: Array(501).fill('x') }, poor)
    expect([many.status, (await errorOf(many)).code]).toEqual([402, 'insufficient_quota'])
    expect((await rank({ model: 'rank-tokens' }, poor)).status).toBe(200)
    expect(nanos((await accountOf(gateway, 'poor')).held)).toBe(0n)
  })

  test('built-in models of the sandbox; what is free is free', async () => {
    const ranked = await rank({ model: 'rnka-plus', query: 'three', top_n: 1 })
    expect(await ranked.json()).toMatchObject({ results: [{ index: 2 }] })
    expect(ranked.headers.get('x-gateway-charge')).toBe('0.014')
    const judged = await gateway.post('/v1/moderations', {
      model: 'mdra-plus',
      input: ['nice', 'violence'],
    })
    expect(await judged.json()).toMatchObject({
      model: 'mdra-plus',
      results: [{ flagged: false }, { flagged: true }],
    })
    expect(judged.headers.get('x-gateway-charge')).toBe('0.00')
    const entry = (await chargeOf(gateway, requestIdOf(judged)))!
    expect([entry.amount, entry.unit, entry.quantity]).toEqual(['0.00', 'free', 1])
  })

  test('the ledger is proven', async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true })
  })
})

afterAll(() => upstream.stop())
