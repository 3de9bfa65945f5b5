// The price book over HTTP: prices of one account, pictures by size, previews, lists in and out, and
// models without a price. On both stores.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { refusedStart, sentenceIn } from '../support/process/plain-start.ts'
import {
  chargeOf,
  type EntryRow,
  listAll,
  nanos,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the price book on PostgreSQL (set TEST_POSTGRES_URL)')
}

const otherToken = 'sk-other-0123456789abcdefghijklmnop'
const config = `
accounts: [{ name: acme, balance: "1000.00" }, { name: beta, balance: "1000.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: beta, name: test, token: ${otherToken} }
models:
  - { name: house, kind: text, interfaces: [chat] }
  - { name: private, kind: text, interfaces: [chat] }
prices:
  - { model: txta-turbo, unit: token, per_million: { input: "100", output: "100" } }
  - { model: txta-turbo, account: beta, unit: token, per_million: { input: "1", output: "1" } }
  - { model: private, account: beta, unit: token, per_million: { input: "1", output: "1" } }
  - model: imga-plus
    unit: image
    per_image: { 1k: "0.20", 2k: "0.40" }
`

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Fields = Record<string, any>
const month = () => new Date().toISOString().slice(0, 7)

describe.each([...storeKinds])('the price book on %s', (engine) => {
  let place: Place
  let gateway: TestGateway

  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    gateway = await startGateway({
      config,
      dataDir,
      env: {
        GATEWAY_SANDBOX_TASK_SECONDS: '0.1',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  const admin = async (method: string, path: string, body?: unknown): Promise<Fields> => {
    const answer = await gateway.admin(method, path, body)
    return { status: answer.status, ...answer.body }
  }
  const as = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const chat = (model: string, secret = apiToken) =>
    gateway.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'x [[sim:tokens=100]]' }] },
      as(secret),
    )
  /** What a call cost, and by which price. */
  const charged = async (model: string, secret = apiToken): Promise<EntryRow> => {
    const answer = await chat(model, secret)
    expect([model, answer.status]).toEqual([model, 200])
    await answer.text()
    return (await chargeOf(gateway, requestIdOf(answer)))!
  }
  const asText = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}/admin/v1${path}`, {
      ...init,
      headers: { ...as(adminToken), ...init.headers },
    })
  const cli = async (...words: string[]) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), ...words, '--url', gateway.url], {
      cwd: tempDir(),
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...ownEnv, GATEWAY_ADMIN_TOKEN: adminToken },
    })
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, out, error }
  }

  describe('a price of one account', () => {
    test('is what that account pays, and nobody else', async () => {
      const ours = await charged('txta-turbo')
      const theirs = await charged('txta-turbo', otherToken)
      expect(nanos(ours.amount)).toBe(100n * nanos(theirs.amount))
      expect(ours.price_id).not.toBe(theirs.price_id)
      const { items } = await admin('GET', '/prices?account=beta')
      expect(items.map((price: Fields) => [price['model'], price['account']]).toSorted()).toEqual([
        ['private', 'beta'],
        ['txta-turbo', 'beta'],
      ])
      expect((await admin('GET', '/prices?account=nobody')).status).toBe(404)
    })

    test('makes a model callable and visible for that account alone', async () => {
      expect((await chat('private')).status).toBe(404)
      expect((await charged('private', otherToken)).quantity).toBeGreaterThan(0)
      const seen = async (secret: string) => {
        const answer = await fetch(`${gateway.url}/v1/models`, { headers: as(secret) })
        return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
      }
      expect(await seen(apiToken)).not.toContain('private')
      expect(await seen(otherToken)).toContain('private')
      const models = await listAll<Fields>(gateway, '/models')
      expect(models.find(({ name }) => name === 'private')).toMatchObject({
        callable: true,
        unavailable_reason: null,
        price_id: null,
        own_prices: ['beta'],
      })
    })

    test('is made over the admin API and the command line, and ended', async () => {
      const before = await charged('txta-plus')
      const free = { unit: 'token', per_million: { input: '0', output: '0' } }
      const made = await admin('POST', '/prices', {
        model: 'txta-plus',
        account: 'acme',
        ...free,
      })
      expect(made).toMatchObject({ status: 201, account: 'acme', current: true })
      expect((await charged('txta-plus')).amount).toBe('0.00')
      expect((await charged('txta-plus', otherToken)).amount).toBe(before.amount)
      const body = JSON.stringify({ unit: 'default' })
      const line = ['price', 'create', '--model', 'txta-plus', '--account', 'acme']
      expect((await cli(...line, '--json-body', body)).code).toBe(0)
      expect(await charged('txta-plus')).toMatchObject({
        amount: before.amount,
        price_id: before.price_id,
      })
    })

    test('is refused where it cannot be', async () => {
      const price = { unit: 'image', per_image: '1' }
      const perToken = { unit: 'token', per_million: { input: '1', output: '1' } }
      for (const [status, body, says] of [
        [400, { ...price, model: 'imga-edit', account: 'nobody' }, "no account 'nobody'"],
        [400, { model: 'imga-edit', unit: 'default' }, 'account is missing'],
        [409, { ...perToken, model: 'txta-turbo', account: 'beta' }, 'configuration file'],
        [
          400,
          { ...price, model: 'txta-turbo' },
          "unit must be token: 'txta-turbo' is a text model",
        ],
        [400, { ...perToken, model: 'vfa-2.7-t2v' }, 'is a video model'],
        [400, { ...price, model: 'vfa-2.7-t2v' }, 'unit must be video_second or video_token'],
        [400, { ...price, model: 'imga-edit', default_size: '2k' }, 'by size only'],
        [400, { model: 'imga-edit', unit: 'image', per_image: { '9k': '1' } }, '"9k"'],
      ] as const) {
        const answer = await admin('POST', '/prices', body)
        expect([answer['status'], answer['error'].message]).toEqual([
          status,
          expect.stringContaining(says),
        ])
      }
      const own = { ...price, model: 'imga-plus', account: 'beta' }
      expect((await admin('POST', '/prices', own)).status).toBe(201)
    })
  })

  test('pictures are held for and charged by their size, and the charge names it', async () => {
    const draw = async (size: string | undefined) => {
      const answer = await gateway.post('/v1/images/generations', {
        model: 'imga-plus',
        prompt: 'a boat',
        n: 2,
        ...(size !== undefined && { size }),
      })
      expect([size, answer.status]).toEqual([size, 200])
      const id = requestIdOf(answer)
      await answer.text()
      await rowOf(gateway, id)
      return admin('GET', `/explain/${id}`)
    }
    for (const [size, charge, word] of [
      [undefined, '0.40', '1k'],
      ['1024x1024', '0.40', '1k'],
      ['2048x1024', '0.80', '2k'],
      ['4096x4096', '0.80', '2k'],
    ] as const) {
      const explained = await draw(size)
      expect([size, explained['charge']]).toEqual([size, charge])
      const text = JSON.stringify(explained)
      expect(text).toContain(`2 images of ${word}`)
      expect(text).toContain(`set aside when it was made: ${charge}`)
    }
  })

  test('a dated model is priced, and previewed, as the one without the date', async () => {
    const own = { model: 'vfa-2.7-t2v', account: 'beta', unit: 'video_second' }
    const prices = [{ ...own, per_second: { '720p': '0.01', '1080p': '0.02' } }]
    const made = await admin('POST', '/prices', prices[0])
    const model = 'vfa-2.7-t2v-2026-04-25'
    const body = { model, prompt: 'a boat', seconds: '5', size: '1280x720' }
    const film = await gateway.post('/v1/videos', body, as(otherToken))
    const { id } = (await film.json()) as { id: string }
    const task = await until('the film', async () => {
      const row = await admin('GET', `/tasks/${id}`)
      return row['state'] === 'succeeded' ? row : undefined
    })
    expect([task['charge'], task['price_id']]).toEqual(['0.05', made['id']])
    const draft = [{ ...own, per_second: { '720p': '0.03' } }]
    const seen = await admin('POST', '/prices/preview', { month: month(), prices: draft })
    expect(seen['items']).toEqual([
      {
        account: 'beta',
        model,
        unit: 'video_second',
        charges: 1,
        quantity: 5,
        charged: '0.05',
        would_charge: '0.15',
        difference: '0.10',
        exact: true,
      },
    ])
  })

  test('a call names its tier where its price has several', async () => {
    const { id } = await admin('GET', '/accounts/acme')
    const entry = await charged('txta-vl-long')
    const lines = await listAll<Fields>(gateway, `/accounts/${id}/ledger`)
    const line = lines.find((each) => each['id'] === entry.id)
    expect(line).toMatchObject({ unit: 'token', tier: 'up to 32000' })
  })

  describe('a preview', () => {
    test('of the prices in force is what was charged, to the nano-unit', async () => {
      await charged('txta-turbo')
      const { items } = await admin('GET', '/prices?model=txta-turbo')
      const prices = items
        .filter((price: Fields) => price['current'])
        .map(({ model, account, unit, per_million }: Fields) => ({
          model,
          ...(account !== null && { account }),
          unit,
          per_million,
        }))
      const seen = await admin('POST', '/prices/preview', { month: month(), prices })
      expect(seen).toMatchObject({ status: 200, exact: true, total: { difference: '0.00' } })
      const accounts = seen['items'].map((item: Fields) => item['account'])
      expect(accounts).toEqual(['acme', 'beta'])
    })

    test('of a draft says what it would have been, per account and model', async () => {
      const double = { unit: 'token', per_million: { input: '200', output: '200' } }
      const prices = [{ model: 'txta-turbo', ...double }]
      const seen = await admin('POST', '/prices/preview', { month: month(), prices })
      const [acme, beta] = seen['items']
      expect(nanos(acme['would_charge'])).toBe(2n * nanos(acme['charged']))
      expect(acme).toMatchObject({
        account: 'acme',
        model: 'txta-turbo',
        unit: 'token',
        exact: true,
      })
      expect([beta['charged'], beta['difference']]).toEqual([beta['would_charge'], '0.00'])
      const only = await admin('POST', '/prices/preview', {
        month: month(),
        prices,
        account: 'acme',
      })
      expect(only['items']).toEqual([acme])
      const own = [{ model: 'txta-turbo', account: 'beta', ...double }]
      const theirs = await admin('POST', '/prices/preview', { month: month(), prices: own })
      expect(theirs['items']).toHaveLength(1)
      expect(nanos(theirs['items'][0]['would_charge'])).toBe(200n * nanos(beta['charged']))
    })

    test('over another period or in a unit that the model has not says so', async () => {
      const image = [{ model: 'txta-turbo', unit: 'image', per_image: '1' }]
      const seen = await admin('POST', '/prices/preview', { month: month(), prices: image })
      expect(seen).toMatchObject({ status: 400, error: { param: 'prices[0].unit' } })
      const before = { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00+01:00' }
      const prices = [{ model: 'imga-edit', unit: 'image', per_image: '1' }]
      const empty = await admin('POST', '/prices/preview', { ...before, prices })
      expect(empty).toMatchObject({
        items: [],
        total: { charges: 0, charged: '0.00' },
        exact: true,
      })
    })

    test('that cannot be made is refused by name', async () => {
      const prices = [{ model: 'imga-edit', unit: 'image', per_image: '1' }]
      const hours = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T02:00:00Z' }
      for (const [param, body] of [
        ['month', { prices }],
        ['month', { prices, month: '2026-13' }],
        ['month', { prices, month: '2026-01', ...hours }],
        ['from', { prices, ...hours, from: '2026-01-01T00:30:00Z' }],
        ['from', { prices, ...hours, from: 'soon' }],
        ['from', { prices, from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }],
        ['to', { prices, from: hours.from }],
        ['to', { prices, from: hours.to, to: hours.from }],
        ['prices', { month: month() }],
        ['prices', { month: month(), prices: [] }],
        ['prices[0].model', { month: month(), prices: [{ ...prices[0], model: 'nope' }] }],
        ['prices[1].model', { month: month(), prices: [prices[0], prices[0]] }],
        ['prices[0].account', { month: month(), prices: [{ ...prices[0], account: 'x' }] }],
        ['prices[0].per_image', { month: month(), prices: [{ ...prices[0], per_image: 1 }] }],
      ] as const) {
        const answer = await admin('POST', '/prices/preview', body)
        expect([body, answer['status'], answer['error']?.param]).toEqual([body, 400, param])
      }
      const answer = await admin('POST', '/prices/preview', {
        month: month(),
        prices,
        account: 'nobody',
      })
      expect(answer['status']).toBe(404)
    })
  })

  describe('lists', () => {
    test.each(['yaml', 'csv'] as const)(
      'as %s go out and in again without a change',
      async (format) => {
        const out = await asText(`/prices/export?format=${format}`)
        expect(out.headers.get('content-disposition')).toBe(
          `attachment; filename="prices.${format}"`,
        )
        const bytes = Buffer.from(await out.arrayBuffer())
        expect(bytes.subarray(0, 3).toString('hex') === 'efbbbf').toBe(format === 'csv')
        const body = bytes.toString()
        const type = format === 'csv' ? 'text/csv' : 'application/yaml'
        const init = { method: 'POST', body, headers: { 'content-type': type } }
        const seen = (await (await asText('/prices/import', init)).json()) as Fields
        expect(seen).toMatchObject({ dry_run: false, added: 0, superseded: 0 })
        expect(seen['unchanged']).toBeGreaterThan(30)
      },
    )

    test('are tried first, then taken in as a whole', async () => {
      const list = 'model,account,unit,price\nimga-edit,,image,0.55\nimga-edit,beta,image,0.11\n'
      const versions = async () => (await listAll(gateway, '/prices?model=imga-edit')).length
      const before = await versions()
      const tried = await admin('POST', '/prices/import', {
        format: 'csv',
        text: list,
        dry_run: true,
      })
      expect(tried).toMatchObject({ status: 200, dry_run: true, added: 2 })
      expect(tried['items'][1]).toMatchObject({
        line: 3,
        outcome: 'added',
        id: null,
        account: 'beta',
      })
      expect(await versions()).toBe(before)
      const wrong = `${list}imga-edit,nobody,image,1\n`
      const refused = await admin('POST', '/prices/import', { format: 'csv', text: wrong })
      expect(refused['error'].message).toStartWith("line 4: account 'nobody' does not exist")
      const misfit = await admin('POST', '/prices/import', {
        format: 'csv',
        text: `${list}txta-plus,,image,1\n`,
      })
      expect(misfit['error'].message).toStartWith('line 4: unit must be token')
      expect(await versions()).toBe(before)
      const done = await admin('POST', '/prices/import', { format: 'csv', text: list })
      expect(done).toMatchObject({ added: 2, unchanged: 0 })
      expect(await versions()).toBe(before + 2)
      const { items } = await admin('GET', '/audit-log?limit=2')
      expect(items.map((row: Fields) => row['action'])).toEqual(['price.import', 'price.import'])
    })

    test('that cannot be read are refused', async () => {
      const send = (body: string, type: string, query = '') =>
        asText(`/prices/import${query}`, {
          method: 'POST',
          body,
          headers: { 'content-type': type },
        })
      expect((await send('x', 'text/plain')).status).toBe(415)
      expect((await send('x', 'text/csv', '?dry_run=maybe')).status).toBe(400)
      expect((await send('x', 'text/csv', '?format=xml')).status).toBe(400)
      expect((await send('model,unit\na,b\n', 'text/csv')).status).toBe(400)
      expect((await asText('/prices/export?format=toString')).status).toBe(400)
    })

    test('go through files on the command line', async () => {
      const file = join(tempDir(), 'prices.csv')
      expect((await cli('price', 'export', file)).out).toContain('bytes')
      const again = await cli('price', 'import', file)
      expect([again.code, again.out]).toEqual([0, expect.stringContaining('0 added')])
      const draft = join(tempDir(), 'draft.yaml')
      writeFileSync(draft, '- { model: imga-edit, unit: image, per_image: "0.66" }\n')
      const tried = await cli('price', 'import', draft, '--dry-run')
      expect(tried.out).toContain('1 added, 0 unchanged, 0 superseded; nothing was changed')
      const seen = await cli('price', 'preview', draft, '--month', month())
      expect([seen.code, seen.out]).toEqual([0, expect.stringContaining('WOULD CHARGE')])
      writeFileSync(draft, '- { model: imga-edit, unit: image, per_image: 0.66 }\n')
      const wrong = await cli('price', 'import', draft)
      expect([wrong.code, wrong.error]).toEqual([
        1,
        expect.stringContaining('line 1: prices[0].per_image'),
      ])
    })
  })

  test('a model without a price cannot be called, says why, and is an alert until it can', async () => {
    const rows = async () => (await admin('GET', '/alerts?kind=missing_price'))['items'] as Fields[]
    expect(await rows()).toMatchObject([{ subject: 'house', times: 1 }])
    expect(gateway.output()).toContain('a model has no price and cannot be called')
    const models = await listAll<Fields>(gateway, '/models')
    expect(models.find(({ name }) => name === 'house')).toMatchObject({
      callable: false,
      unavailable_reason: 'it has no price in force',
    })
    const idle = models.find(({ name }) => name === 'imgvendor-v2-5-turbo')
    expect(idle?.['unavailable_reason']).toBe('no channel serves it')
    expect((await chat('house')).status).toBe(404)
    const rates = { input: '1', output: '1' }
    const effective_from = new Date(Date.now() + 700).toISOString()
    const price = { model: 'house', unit: 'token', per_million: rates, effective_from }
    expect((await admin('POST', '/prices', price)).status).toBe(201)
    expect(await rows()).toHaveLength(1)
    await until('the price to begin', async () => ((await rows()).length === 0 ? true : undefined))
    expect((await chat('house')).status).toBe(200)
  })
})

test('a declared price of an account that does not exist stops the start', async () => {
  const file = 'prices:\n  - { model: imga-plus, account: nobody, unit: image, per_image: "1" }'
  const { code, text } = await refusedStart({ file })
  expect(code).toBe(78)
  expect(sentenceIn(text)).toContain("the price of 'imga-plus' names the account 'nobody'")
})
