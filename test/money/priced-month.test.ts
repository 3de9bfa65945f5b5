// A month of random prices and calls, on both stores and over two gateways of one: every charge equals a calculation
// that shares nothing with the gateway, explanations add up to it, and a preview of the month says the same.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { billionths, explainedNanos } from '../support/explained.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  requests,
  type Style,
  startPricedUpstream,
  styles,
  type Told,
} from '../support/priced-upstream.ts'
import { chargeOf, requestIdOf } from '../support/read.ts'
import { seeded, testSeed } from '../support/seeded.ts'

type Rates = Partial<Record<string, string>>
interface Window {
  from: string
  to: string
  factor: string
}
interface Terms {
  per_million?: Rates
  tiers?: { up_to?: number; per_million: Rates }[]
  service_tiers?: Record<string, { factor?: string; per_million?: Rates }>
  geo?: Record<string, { factor: string }>
  hours?: Window[]
}
interface Call {
  model: string
  caller: Style
  style: Style
  stream: boolean
  told: Told
  asked?: string
}

// The calculation: whole numbers of billionths, one rounding at the end.

const one = 1_000_000_000n

/** In tenths of billionths, as an hour's cache is 1.6 times another. */
function rateOf(rates: Rates, name: string): bigint {
  const given = rates[name]
  if (given !== undefined) return billionths(given) * 10n
  if (name === 'cache_write_1h') {
    const written = rates['cache_write']
    return written === undefined ? rateOf(rates, 'input') * 2n : billionths(written) * 16n
  }
  return rateOf(rates, name.startsWith('output') ? 'output' : 'input')
}

/** What a style can tell of its usage: messages knows no sounds and images, generate no writes. */
function tokensIn(style: Style, told: Told): [string, number][] {
  const { input = 0, output = 0, read = 0 } = told
  const [written, hour] = style === 'generate' ? [0, 0] : [told.written ?? 0, told.hour ?? 0]
  const of = (count = 0) => (style === 'messages' ? 0 : count)
  const [audioIn, imageIn] = [of(told.audioIn), of(told.imageIn)]
  const [audioOut, imageOut] = [of(told.audioOut), of(told.imageOut)]
  return [
    ['input', input - read - written - audioIn - imageIn],
    ['cache_read', read],
    ['cache_write', written - hour],
    ['cache_write_1h', hour],
    ['input_audio', audioIn],
    ['input_image', imageIn],
    ['output', output - audioOut - imageOut],
    ['output_audio', audioOut],
    ['output_image', imageOut],
  ]
}

function windowAt(terms: Terms, clock: string): Window | undefined {
  return terms.hours?.find(({ from, to }) =>
    from < to ? from <= clock && clock < to : clock >= from || clock < to,
  )
}

function expectedNanos(terms: Terms, call: Call, clock: string): bigint {
  const { told, style } = call
  const named = told.tier ?? call.asked
  const tier = named === undefined ? undefined : terms.service_tiers?.[named]
  const bracket = terms.tiers?.find(({ up_to: upTo }) => upTo === undefined || told.input! <= upTo)
  const rates = tier?.per_million ?? bracket?.per_million ?? terms.per_million!
  const factors = [
    windowAt(terms, clock)?.factor ?? '1',
    tier?.factor ?? '1',
    (style === 'messages' && told.geo !== undefined && terms.geo?.[told.geo]?.factor) || '1',
  ]
  // Tokens times tenths of billionths per million.
  let sum = 0n
  for (const [name, count] of tokensIn(style, told)) sum += BigInt(count) * rateOf(rates, name)
  let scale = 10_000_000n
  for (const factor of factors) {
    sum *= billionths(factor)
    scale *= one
  }
  return (2n * sum + scale) / (2n * scale)
}

// Random prices and calls.

const random = seeded(testSeed())
const whole = (max: number) => Math.floor(random() * (max + 1))
const isHeads = (share = 0.5) => random() < share
const pick = <T>(all: readonly T[]): T => all[whole(all.length - 1)]!
const amount = () => `${whole(30)}.${String(whole(999_999)).padStart(6, '0')}`
const factor = () => `${1 + whole(4)}.${String(whole(9_999)).padStart(4, '0')}`

const optional = ['cache_read', 'cache_write', 'cache_write_1h', 'input_audio', 'input_image']
function anyRates(): Rates {
  const rates: Rates = { input: amount(), output: amount() }
  for (const name of [...optional, 'output_audio', 'output_image']) {
    if (isHeads(0.6)) rates[name] = amount()
  }
  return rates
}

const clockOf = (ms: number): string => new Date(ms).toISOString().slice(11, 16)

function anyHours(): Window[] {
  const now = Date.now()
  const past = { from: clockOf(now - 5 * 3_600_000), to: clockOf(now - 3 * 3_600_000) }
  // A window that holds for as long as the test runs, also past midnight.
  const present = { from: clockOf(now - 3_600_000), to: clockOf(now + 3 * 3_600_000) }
  return [
    ...(isHeads() ? [{ ...past, factor: factor() }] : []),
    ...(isHeads(0.7) ? [{ ...present, factor: factor() }] : []),
    { ...present, factor: factor() },
  ]
}

function anyTerms(): Terms {
  const plain = isHeads()
    ? { per_million: anyRates() }
    : {
        tiers: [
          { up_to: 500, per_million: anyRates() },
          { up_to: 2_000, per_million: anyRates() },
          { per_million: anyRates() },
        ],
      }
  return {
    ...plain,
    ...(isHeads(0.7) && {
      service_tiers: {
        priority: { factor: factor() },
        flex: isHeads() ? { factor: '0.5' } : { per_million: anyRates() },
      },
    }),
    ...(isHeads(0.5) && { geo: { us: { factor: '1.1' } } }),
    ...(isHeads(0.6) && { hours: anyHours() }),
  }
}

const models = new Map<string, { style: Style; terms: Terms }>(
  styles.flatMap((style) =>
    [1, 2, 3].map((n) => [`m${n}-${style}`, { style, terms: anyTerms() }] as const),
  ),
)

function anyCall(): Call {
  const [model, { style, terms }] = pick([...models])
  const caller = isHeads() ? style : pick(styles)
  const read = whole(400)
  const written = whole(400)
  const [audioIn, imageIn, audioOut, imageOut] = [200, 200, 90, 90].map(whole) as [
    ...[number, number, number, number],
  ]
  const told: Told = {
    ...{ read, written, hour: whole(written), audioIn, imageIn, audioOut, imageOut },
    input: read + written + audioIn + imageIn + whole(3_000),
    output: audioOut + imageOut + whole(900),
    ...(style === 'messages' && isHeads(0.3) && { geo: 'us' }),
  }
  const hasTiers = terms.service_tiers !== undefined
  if (hasTiers && isHeads(0.4)) told.tier = pick(['priority', 'flex'])
  const asked =
    hasTiers && caller === style && isHeads(0.4) ? pick(['priority', 'flex']) : undefined
  return { model, caller, style, stream: isHeads(), told, ...(asked !== undefined && { asked }) }
}

const upstream = startPricedUpstream()
afterAll(() => upstream.stop())
const simulated = {
  model: 'txta-plus',
  per_million: {
    ...{ input: '1', output: '10', cache_read: '0.1', cache_write: '1.25', cache_write_1h: '2' },
    ...{ input_audio: '3', input_image: '4', output_audio: '50', output_image: '60' },
  },
  service_tiers: { priority: { factor: '2' }, fast: { factor: '3' } },
  geo: { us: { factor: '1.1' } },
}
const prices = [
  ...[...models].map(([model, { terms }]) => ({ model, unit: 'token', ...terms })),
  { unit: 'token', ...simulated },
]
const config = {
  accounts: [{ name: 'acme', balance: '1000' }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  models: [...models].map(([name, { style }]) => ({
    ...{ name, kind: 'text', interfaces: [style] },
    ...{ context_window: 100_000, max_output_tokens: 10_000 },
  })),
  prices,
  channels: styles.map((style) => ({
    name: `up-${style}`,
    keys: ['upk-0123456789'],
    protocols: { [style]: upstream.protocols[style] },
    models: Object.fromEntries(
      [...models].filter(([, each]) => each.style === style).map(([name]) => [name, '*']),
    ),
  })),
}

describe.each([...storeKinds])('a month on %s', (dialect) => {
  let place: Place
  const gateways: TestGateway[] = []
  beforeAll(async () => {
    place = await newPlace(dialect)
    const { dataDir, databaseUrl } = place.options
    const start = () =>
      startGateway({
        config: JSON.stringify(config),
        dataDir,
        env: {
          GATEWAY_SANDBOX: 'on',
          GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
        },
      })
    gateways.push(await start())
    if (dialect === 'postgres') gateways.push(await start())
  })
  afterAll(async () => {
    const { body } = await gateways[0]!.admin('POST', '/audit')
    expect(body.ok).toBe(true)
    for (const each of gateways) expect(await each.stop()).toBe(0)
    await place.remove()
  })

  let cases = 0
  async function make(call: Call): Promise<void> {
    const { model, caller, stream, told, asked } = call
    const gateway = gateways[++cases % gateways.length]!
    const word = `case-${cases}-x`
    upstream.tell(word, told)
    const { path, body } = requests[caller](model, word, stream)
    const field = caller === 'generate' ? 'serviceTier' : 'service_tier'
    const answer = await gateway.post(path, {
      ...body,
      ...(asked !== undefined && { [field]: asked }),
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hi')])
    const id = requestIdOf(answer)
    const other = gateways[(cases + 1) % gateways.length]!
    const charge = await chargeOf(other, id)
    const { body: row } = await other.admin('GET', `/requests/${id}`)
    const nanos = expectedNanos(models.get(model)!.terms, call, row.at.slice(11, 16))
    expect([call, billionths(charge!.amount.slice(1))]).toEqual([call, nanos])
    const { body: why } = await other.admin('GET', `/explain/${id}`)
    expect(explainedNanos(why.steps, why.factors)).toBe(nanos)
    expect(billionths(why.charge)).toBe(nanos)
    if (!stream) expect(billionths(answer.headers.get('x-gateway-charge')!)).toBe(nanos)
  }

  test('every charge is the price of what was used, and explained to the nano', async () => {
    const calls = Array.from({ length: 120 }, anyCall)
    for (let at = 0; at < calls.length; at += 8) {
      await Promise.all(calls.slice(at, at + 8).map(make))
    }
  })

  const hourCache = {
    type: 'text',
    text: 'hello '.repeat(2_000),
    cache_control: { type: 'ephemeral', ttl: '1h' },
  }
  const inputs = ['input_audio: 3 x 3.00', 'input_image: 2 x 4.00']
  const outputs = ['output_audio: 3 x 50.00', 'output_image: 2 x 60.00']
  const media = '[[sim:audio-tokens=3]] [[sim:image-tokens=2]]'
  const spoken = '[[sim:output-audio-tokens=3]] [[sim:output-image-tokens=2]]'
  test.each<[Style, string, object, readonly string[], string | null]>([
    ...(['chat', 'responses', 'generate'] as const).map(
      (style): [Style, string, object, readonly string[], string] => [
        ...([style, `[[sim:tier=priority]] ${media} ${spoken}`, {}] as const),
        ...([[...inputs, ...outputs], 'priority'] as const),
      ],
    ),
    ['chat', '[[sim:tier=default]]', { service_tier: 'priority' }, [], null],
    ['messages', '[[sim:tier=standard]]', { speed: 'fast' }, [], null],
    ['messages', 'hi', { speed: 'fast' }, [], 'fast'],
    ['messages', '[[sim:geo=us]] [[sim:compaction=5000]]', {}, ['input: 50'], null],
    ['messages', 'hi', { system: [hourCache] }, ['cache_write_1h: 200'], null],
    [
      'messages',
      '[[sim:compaction=5000]]',
      { system: [{ ...hourCache, text: `once more ${hourCache.text}` }] },
      ['input: 50', 'cache_write_1h: 200'],
      null,
    ],
  ])('the sandbox shows it to a caller of %s: %s %#', async (style, text, more, lines, tier) => {
    for (const stream of [false, true]) {
      const gateway = gateways[++cases % gateways.length]!
      const words = `[[sim:tokens=20]] ${dialect} ${stream} ${text}`
      const { path, body } = requests[style]('txta-plus', words, stream)
      // A new beginning each time: what was written before would be read.
      const own = JSON.parse(JSON.stringify(more).replace('hello', `hello ${dialect} ${stream}`))
      const answer = await gateway.post(path, { ...body, ...own })
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
      const id = requestIdOf(answer)
      const other = gateways[(cases + 1) % gateways.length]!
      const charge = await chargeOf(other, id)
      const { body: why } = await other.admin('GET', `/explain/${id}`)
      for (const line of lines) expect(why.steps.join('\n')).toContain(line)
      expect(why.service_tier).toBe(tier)
      expect(explainedNanos(why.steps, why.factors)).toBe(billionths(charge!.amount.slice(1)))
    }
  })

  test('a preview at the same prices says what was charged', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const { body } = await gateways.at(-1)!.admin('POST', '/prices/preview', { month, prices })
    const odd = body.items.filter(
      (item: { difference: string | null }) => item.difference !== '0.00',
    )
    expect(odd).toEqual([])
    expect(body.total).toMatchObject({ exact: true, difference: '0.00' })
  })
})
