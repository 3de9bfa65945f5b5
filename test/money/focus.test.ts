// The FOCUS export over real HTTP, on both stores: its columns keep to the rules of FOCUS 1.2, its sums are those of
// the bills, rows are split by what the specification of the export names, and refunds are told apart.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CsvReader } from '../../src/lib/text/csv.ts'
import { monthAt, monthBounds, monthPlus } from '../../src/lib/text/month.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { openPast } from '../support/data/past-months.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requests, type Style, startPricedUpstream, type Told } from '../support/priced-upstream.ts'
import { nanos, requestIdOf, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the FOCUS export on PostgreSQL (set TEST_POSTGRES_URL)')
}

/** Those that 1.2 wants in every file, and whether they may be null. */
const mandatory: Readonly<Record<string, boolean>> = {
  BilledCost: false,
  BillingAccountId: false,
  BillingAccountName: true,
  BillingCurrency: false,
  BillingPeriodEnd: false,
  BillingPeriodStart: false,
  ChargeCategory: false,
  ChargeClass: true,
  ChargeDescription: true,
  ChargePeriodEnd: false,
  ChargePeriodStart: false,
  ContractedCost: false,
  EffectiveCost: false,
  InvoiceIssuerName: false,
  ListCost: false,
  PricingQuantity: true,
  PricingUnit: true,
  ProviderName: false,
  PublisherName: false,
  ServiceCategory: false,
  ServiceName: false,
}
const numbers = [
  'BilledCost',
  'EffectiveCost',
  'ListCost',
  'ContractedCost',
  'ListUnitPrice',
  'ContractedUnitPrice',
  'PricingQuantity',
  'ConsumedQuantity',
]
const times = ['BillingPeriodStart', 'BillingPeriodEnd', 'ChargePeriodStart', 'ChargePeriodEnd']

/**
 * The program `focus-validator` of PyPI, whose newest release knows FOCUS 1.0 as it was before it was final.
 */
const validator = process.env['TEST_FOCUS_VALIDATOR']
if (validator === undefined) {
  console.error(
    "left out: the FinOps Foundation's validator (set TEST_FOCUS_VALIDATOR to focus-validator of PyPI)",
  )
}
/** Rules that 1.2 does not have. */
const notOf12: ReadonlySet<string> = new Set([
  // Named otherwise since: InvoiceIssuerName, ProviderName, PublisherName, ResourceId, ChargeCategory.
  ...['InvoiceIssuer_Required', 'Provider_Required', 'Publisher_Required', 'ResourceID_Required'],
  'SkuPriceId_Nullable',
  // Only where a provider has them.
  ...[
    'RegionId_Required',
    'RegionName_Required',
    'SubAccountId_Required',
    'SubAccountName_Required',
  ],
  ...['Category', 'Id', 'Name', 'Status', 'Type'].map((of) => `CommitmentDiscount${of}_Required`),
  // The list of currencies is missing from its package.
  'BillingCurrency_IsCurrencyCode',
  // A column of whole numbers is one of decimals to the specification.
  ...['ConsumedQuantity_IsDecimal', 'PricingQuantity_IsDecimal'],
])

const upstream = startPricedUpstream()
const drawing = startUpstream(() =>
  jsonReply({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }, { b64_json: 'iVBORw0KGgo=' }] }),
)
const otherToken = 'sk-other-0123456789abcdefghijklmnop'
const rates = { input: '1', output: '10', cache_read: '0.1', input_audio: '3', output_audio: '50' }
const config = {
  currency: 'USD',
  issuer: { name: 'Example Ltd' },
  accounts: [
    { name: 'acme', balance: '1000', tag_names: ['team'], display_name: 'Acme 有限公司' },
    { name: 'beta', balance: '1000' },
  ],
  tokens: [
    { account: 'acme', name: 'test', token: apiToken },
    { account: 'beta', name: 'test', token: otherToken },
  ],
  models: [
    { name: 'draw', kind: 'image', interfaces: ['images'] },
    ...(['chat', 'messages'] as const).map((style) => ({
      name: `m-${style}`,
      kind: 'text',
      interfaces: [style],
    })),
  ],
  prices: [
    { model: 'draw', unit: 'image', per_image: '0.2' },
    {
      model: 'm-chat',
      unit: 'token',
      per_million: rates,
      service_tiers: { priority: { factor: '2' } },
    },
    // A third of a billionth per token is rounded in each charge.
    {
      model: 'm-chat',
      account: 'beta',
      unit: 'token',
      per_million: { ...rates, input: '0.000333', output: '0.3333333' },
    },
    {
      model: 'm-messages',
      unit: 'token',
      tiers: [
        { up_to: 1_000, per_million: { input: '1', output: '10', cache_write: '1.25' } },
        { per_million: { input: '2', output: '20' } },
      ],
      per_call: { web_search: '0.01' },
      hours: [{ from: '00:00', to: '00:00', factor: '0.5' }],
    },
  ],
  channels: [
    {
      name: 'up-draw',
      keys: ['upk-0123456789'],
      protocols: { images: drawing.chat },
      models: { draw: '*' },
    },
    ...(['chat', 'messages'] as const).map((style) => ({
      name: `up-${style}`,
      keys: ['upk-0123456789'],
      protocols: { [style]: upstream.protocols[style] },
      models: { [`m-${style}`]: '*' },
    })),
  ],
}
afterAll(async () => {
  await upstream.stop()
  await drawing.stop()
})

type Row = Record<string, string>

/** Exact decimals as whole numbers of 1e-60. */
function exact(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!
  const size = BigInt(whole + fraction.padEnd(60, '0'))
  return sign === '-' ? -size : size
}
const scale = 10n ** 60n

const daysOf = (month: string): string =>
  `from=${month}-01&to=${new Date(monthBounds(month)!.untilMs - 1).toISOString().slice(0, 10)}`

describe.each([...storeKinds])('the FOCUS export on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  const month = monthAt(Date.now())
  const [long, before] = [monthPlus(month, -3), monthPlus(month, -2)]
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    const start = () =>
      startGateway({
        config: JSON.stringify(config),
        dataDir,
        env: {
          GATEWAY_SANDBOX_TASK_SECONDS: '0.1',
          ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
        },
      })
    gateway = await start()
    expect(await gateway.stop()).toBe(0)
    const store = await place.open()
    const film = { model: 'film', unit: 'video_second', tier: '720p', tokenId: 'tok_old' } as const
    await openPast(store, 'old', [
      { month: long, kind: 'credit', amountNanos: 5_000_000_000n, note: 'wire' },
      {
        month: long,
        kind: 'charge',
        ...film,
        quantity: 4.5,
        amountNanos: -1_000_000_007n,
        ref: 'video_a',
      },
      { month: before, kind: 'charge', ...film, quantity: 1, amountNanos: -7n, ref: 'video_b' },
      {
        month: before,
        kind: 'refund',
        model: 'film',
        amountNanos: 1_000_000n,
        ref: 'rfd_1',
        refundOf: 'video_a',
        note: 'broken',
      },
      {
        month: before,
        kind: 'refund',
        model: 'film',
        amountNanos: 3n,
        ref: 'rfd_2',
        refundOf: 'video_b',
        note: 'late',
      },
    ])
    await store.close()
    gateway = await start()
    await work()
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  let cases = 0
  async function ask(style: Style, told: Told, headers: Record<string, string> = {}) {
    const word = `case-${++cases}-x`
    upstream.tell(word, told)
    const { path, body } = requests[style](`m-${style}`, word, false)
    const answer = await gateway.post(path, body, headers)
    expect(answer.status).toBe(200)
    await answer.text()
    return requestIdOf(answer)
  }

  /** What there is to export. */
  async function work() {
    const beta = { authorization: `Bearer ${otherToken}` }
    const told = { input: 1_000, read: 100, audioIn: 200, output: 100, audioOut: 10 }
    await ask('chat', told, { 'x-gateway-tags': 'team=red' })
    await ask('chat', told, { 'x-gateway-tags': 'team=red' })
    await ask('chat', told, { 'x-gateway-tags': 'team=blue' })
    await ask('chat', { ...told, tier: 'priority' })
    for (let n = 1; n < 6; n++) await ask('chat', { input: n, output: n }, beta)
    const search = { more: { server_tool_use: { web_search_requests: 2 } } }
    await ask('messages', { input: 1_000, written: 300, hour: 200, output: 9, ...search })
    await ask('messages', { input: 1_001, output: 9 })
    const drawn = await gateway.post('/v1/images/generations', {
      model: 'draw',
      prompt: 'x',
      n: 2,
      response_format: 'b64_json',
    })
    expect(drawn.status).toBe(200)
    const id = await ask('chat', told)
    await rowOf(gateway, id)
    const given = await gateway.admin('POST', `/requests/${id}/refunds`, {
      amount: '0.0001',
      reason: 'late',
    })
    expect(given.status).toBe(201)
  }

  async function focus(query: string) {
    const response = await fetch(`${gateway.url}/admin/v1/exports/focus?${query}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const text = await response.text()
    if (response.status !== 200)
      return { status: response.status, error: JSON.parse(text).error, rows: [], names: [], text }
    const reader = new CsvReader()
    const read = [...reader.push(text), ...reader.end()].map((row) =>
      'cells' in row ? row.cells : [],
    )
    const [names = [], ...body] = read
    const rows = body.map(
      (cells): Row => Object.fromEntries(names.map((name, at) => [name, cells[at]!])),
    )
    return {
      status: 200,
      error: undefined,
      names,
      rows,
      text,
      type: response.headers.get('content-type'),
    }
  }
  const all = `from=${long}-01&to=${new Date().toISOString().slice(0, 10)}`

  test('has the columns of 1.2, with values as its rules want them', async () => {
    const { status, error, names, rows, type } = await focus(all)
    expect([status, error]).toEqual([200, undefined])
    expect(type).toStartWith('text/csv')
    for (const name of Object.keys(mandatory)) expect(names).toContain(name)
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) {
      for (const [name, mayBeNull] of Object.entries(mandatory)) {
        if (!mayBeNull) expect([name, row[name]]).not.toEqual([name, ''])
      }
      for (const name of numbers) expect(row[name]).toMatch(/^-?\d+(\.\d*[1-9])?$/)
      for (const name of times) expect(row[name]).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/)
      expect(row['BillingCurrency']).toBe('USD')
      expect(row['ChargeCategory']).toBe('Usage')
      expect(['', 'Correction']).toContain(row['ChargeClass']!)
      expect(['Tokens', 'Images', 'Seconds', 'Requests']).toContain(row['PricingUnit']!)
      expect(['Standard', 'Dynamic']).toContain(row['PricingCategory']!)
      expect(row).toMatchObject({
        ServiceCategory: 'AI and Machine Learning',
        ServiceSubcategory: 'Generative AI',
        ChargeFrequency: 'Usage-Based',
        InvoiceIssuerName: 'Example Ltd',
      })
      const lasts = Date.parse(row['ChargePeriodEnd']!) - Date.parse(row['ChargePeriodStart']!)
      expect(lasts).toBe(86_400_000)
      expect(row['BillingPeriodStart']! <= row['ChargePeriodStart']!).toBe(true)
      expect(row['BillingPeriodEnd']! >= row['ChargePeriodEnd']!).toBe(true)
      const quantity = exact(row['PricingQuantity']!)
      for (const kind of ['List', 'Contracted']) {
        const product = (exact(row[`${kind}UnitPrice`]!) * quantity) / scale
        expect(product).toBe(exact(row[`${kind}Cost`]!))
      }
      expect(JSON.parse(row['Tags']!)).toBeObject()
      expect(row['SkuPriceId']!.startsWith(`${row['SkuId']}/`)).toBe(true)
    }
    const skuOf = new Map(rows.map((row) => [row['SkuPriceId'], row['SkuId']]))
    for (const row of rows) expect(skuOf.get(row['SkuPriceId'])).toBe(row['SkuId'])
  })

  test.if(validator !== undefined)(
    "passes the FinOps Foundation's validator, but for what that has of drafts of 1.0",
    async () => {
      const file = join(place.options.dataDir!, 'focus.csv')
      await Bun.write(file, (await focus(all)).text)
      const run = Bun.spawn([validator!, '--data-file', file, '--validate-version', '1.0'], {
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const said = await new Response(run.stdout).text()
      await run.exited
      expect(said).toMatch(/^Validation (succeeded|failed)!$/m)
      const failed = [...said.matchAll(/^(\w+) failed:$/gm)].map(([, rule]) => rule!)
      expect(failed.filter((rule) => !notOf12.has(rule))).toEqual([])
    },
  )

  test.each(['acme', 'beta', 'old'])('adds up to the bills of %s', async (account) => {
    const { rows } = await focus(`${all}&account=${account}`)
    const months = new Map<string, bigint>()
    for (const row of rows) {
      const of = row['BillingPeriodStart']!.slice(0, 7)
      months.set(of, (months.get(of) ?? 0n) + nanos(row['BilledCost']!))
    }
    expect(months.size).toBeGreaterThan(0)
    for (const [of, sum] of months) {
      const { body } = await gateway.admin('GET', `/bills?account=${account}&month=${of}`)
      expect(sum).toBe(nanos(body.charges) - nanos(body.refunds))
    }
  })

  test('has a row for each day, account, model, rate and price, split by tags', async () => {
    const { rows } = await focus(`${all}&account=acme`)
    const chat = rows.filter((row) => row['ResourceId'] === 'm-chat' && row['SkuMeter'] === 'input')
    const found = chat.map((row) => [
      row['Tags'],
      row['PricingQuantity'],
      row['ContractedUnitPrice'],
    ])
    expect(found.sort()).toEqual([
      ['{"team":"blue"}', '700', '0.000001'],
      ['{"team":"red"}', '1400', '0.000001'],
      ['{}', '700', '0.000001'],
      ['{}', '700', '0.000002'],
    ])
    const meters = rows.filter((row) => row['ResourceId'] === 'm-messages')
    expect(
      meters
        .map((row) => [
          row['SkuMeter'],
          row['PricingUnit'],
          row['PricingQuantity'],
          row['ContractedUnitPrice'],
        ])
        .sort(),
    ).toEqual([
      ['cache_write', 'Tokens', '100', '0.000000625'],
      ['cache_write_1h', 'Tokens', '200', '0.000001'],
      ['input', 'Tokens', '1001', '0.000001'],
      ['input', 'Tokens', '700', '0.0000005'],
      ['output', 'Tokens', '9', '0.000005'],
      ['output', 'Tokens', '9', '0.00001'],
      ['web_search', 'Requests', '2', '0.005'],
    ])
    expect(rows.find((row) => row['ResourceId'] === 'draw')).toMatchObject({
      PricingUnit: 'Images',
      PricingQuantity: '2',
    })
    expect(rows[0]).toMatchObject({ BillingAccountName: 'Acme 有限公司' })
  })

  test('has the general price as the list price of an account with its own', async () => {
    const { rows } = await focus(`${all}&account=beta`)
    expect(
      rows
        .map((row) => [
          row['SkuMeter'],
          row['PricingQuantity'],
          row['ListUnitPrice'],
          row['ListCost'],
          row['ContractedCost'],
        ])
        .sort(),
    ).toEqual([
      ['input', '15', '0.000001', '0.000015', '0.000000004995'],
      ['output', '15', '0.00001', '0.00015', '0.0000049999995'],
    ])
  })

  test('a refund of a closed month is a correction, another is not', async () => {
    const at = async () => {
      const { rows } = await focus(`${daysOf(before)}&account=old`)
      return rows
        .map((row) => [row['SkuMeter'], row['ChargeClass'], row['BilledCost'], row['InvoiceId']])
        .sort()
    }
    expect(await at()).toEqual([
      ['refund', '', '-0.000000003', ''],
      ['refund', '', '-0.001', ''],
      ['usage', '', '0.000000007', ''],
    ])
    const closed = await gateway.admin('POST', '/bills/close', { account: 'old', month: long })
    expect(closed.status).toBe(200)
    expect(await at()).toEqual([
      ['refund', '', '-0.000000003', ''],
      ['refund', 'Correction', '-0.001', ''],
      ['usage', '', '0.000000007', ''],
    ])
    const { rows } = await focus(`${daysOf(long)}&account=old`)
    expect(rows.map((row) => row['InvoiceId'])).toEqual([closed.body.number])
  })

  test('days are those of UTC, and both ends are included', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const { rows } = await focus(`from=${today}&to=${today}&account=acme`)
    for (const row of rows) expect(row['ChargePeriodStart']).toBe(`${today}T00:00:00Z`)
    const none = await focus('from=2020-01-01&to=2020-01-31')
    expect([none.status, none.rows]).toEqual([200, []])
  })

  test.each([
    ['from', 'to=2026-10-31'],
    ['to', 'from=2026-10-31'],
    ['from', 'from=2026-02-30&to=2026-10-31'],
    ['to', 'from=2026-10-01&to=October'],
    ['to', 'from=2026-10-02&to=2026-10-01'],
    ['to', 'from=2020-10-02&to=2026-10-01'],
  ])('a wrong %s is refused: %s', async (param, query) => {
    const { status, error } = await focus(query)
    expect([status, error.param]).toEqual([400, param])
  })

  test('an account that is not there is not found', async () => {
    expect((await focus('from=2026-10-01&to=2026-10-31&account=nobody')).status).toBe(404)
  })
})
