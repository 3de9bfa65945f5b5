// A newcomer's gateway has no provider, yet a model for every term of a price: with directives the sandbox reports each
// kind of token, tier and place, and the charge of each is explained.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { billionths, explainedNanos } from '../support/explained.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { requests, type Style } from '../support/priced-upstream.ts'
import { chargeOf, requestIdOf, rowOf } from '../support/read.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect((await gateway.admin('POST', '/audit')).body.ok).toBe(true)
  expect(await gateway.stop()).toBe(0)
})

const aDayMs = 86_400_000
const eightHoursMs = 8 * 3_600_000

/** The factor of txta-max at a moment, by its hours in Shanghai, eight hours before UTC. */
function hoursAt(at: string): string | undefined {
  const local = new Date(Date.parse(at) + eightHoursMs)
  const clock = local.toISOString().slice(11, 16)
  if (clock >= '00:30' && clock < '08:30') return '0.5'
  return [0, 6].includes(local.getUTCDay()) ? '0.8' : undefined
}

test('its hours hold at night and at the weekend', () => {
  const days = [0, 1, 2, 3, 4, 5, 6].map((day) => Date.parse('2026-11-15T04:00:00Z') + day * aDayMs)
  const at = (ms: number) => hoursAt(new Date(ms).toISOString())
  expect(days.map(at)).toEqual(['0.8', ...Array(5).fill(undefined), '0.8'])
  expect(days.map((ms) => at(ms - eightHoursMs))).toEqual(Array(7).fill('0.5'))
})

const hourCache = {
  type: 'text',
  text: 'hello '.repeat(500),
  cache_control: { type: 'ephemeral', ttl: '1h' },
}
const media = '[[sim:audio-tokens=3]] [[sim:image-tokens=2]]'
const spoken = '[[sim:output-audio-tokens=3]] [[sim:output-image-tokens=2]]'
const mediaLines = [
  'input_audio: 3 x 12.00 per million',
  'input_image: 2 x 6.00 per million',
  'output_audio: 3 x 48.00 per million',
  'output_image: 2 x 60.00 per million',
]
interface Seen {
  /** Beginnings of lines of the explanation. */
  lines?: readonly string[]
  tier?: string
  /** Factors of the price but for its hours. */
  factors?: readonly string[]
}
const cases: readonly (readonly [Style, string, object, Seen])[] = [
  ...(['chat', 'responses', 'generate'] as const).map(
    (style) => [style, `${media} ${spoken}`, {}, { lines: mediaLines }] as const,
  ),
  ['messages', 'an hour', { system: [hourCache] }, { lines: ['cache_write_1h: '] }],
  ['messages', 'an hour', { system: [hourCache] }, { lines: ['cache_read: '] }],
  ['messages', '[[sim:compaction=5000]]', {}, { lines: ['input: 50'] }],
  [
    'messages',
    '[[sim:advisor=txta-turbo]]',
    {},
    { lines: ['txta-turbo input: ', 'txta-turbo output: 20 x 0.60 per million'] },
  ],
  ['messages', '[[sim:geo=us]]', {}, { factors: ['1.1'] }],
  ['chat', '[[sim:tier=priority]]', {}, { tier: 'priority', factors: ['2'] }],
  ['chat', 'cheap', { service_tier: 'flex' }, { tier: 'flex', factors: ['0.5'] }],
  ['chat', '[[sim:tier=default]]', { service_tier: 'priority' }, {}],
  ['responses', '[[sim:tier=flex]]', {}, { tier: 'flex', factors: ['0.5'] }],
  ['generate', '[[sim:tier=priority]]', {}, { tier: 'priority', factors: ['2'] }],
  ['messages', 'quick', { speed: 'fast' }, { tier: 'fast', lines: ['output: 20 x 96.00'] }],
  ['messages', '[[sim:tier=standard]]', { speed: 'fast' }, { lines: ['output: 20 x 16.00'] }],
]

describe.each([false, true])('txta-max, as a stream: %p,', (stream) => {
  test.each(cases)(
    'shows a caller of %s what it costs: %s %#',
    async (style, words, more, seen) => {
      const { path, body } = requests[style]('txta-max', `[[sim:tokens=20]] ${words}`, stream)
      const own = JSON.parse(JSON.stringify(more).replace('hello', `hello ${stream}`))
      const answer = await gateway.post(path, { ...body, ...own })
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
      const id = requestIdOf(answer)
      const { at } = await rowOf(gateway, id)
      const { body: why } = await gateway.admin('GET', `/explain/${id}`)
      for (const line of seen.lines ?? []) expect(why.steps.join('\n')).toContain(line)
      expect(why.service_tier).toBe(seen.tier ?? null)
      const hours = hoursAt(at)
      const factors = [...(seen.factors ?? []), ...(hours === undefined ? [] : [hours])]
      expect(why.factors.map(({ factor }: { factor: string }) => factor).sort()).toEqual(
        factors.sort(),
      )
      const charge = (await chargeOf(gateway, id))!.amount.slice(1)
      expect(billionths(charge)).toBe(explainedNanos(why.steps, why.factors))
      if (!stream) expect(answer.headers.get('x-gateway-charge')).toBe(charge)
    },
  )
})

test('imga-max is charged by the tokens of its images', async () => {
  const image = 'data:image/png;base64,iVBORw0KGgo='
  for (const [path, more, lines] of [
    ['generations', { n: 2 }, ['output_image: 516 x 40.00 per million = 0.02064']],
    [
      'edits',
      { images: [{ image_url: image }] },
      [
        'input_image: 258 x 8.00 per million = 0.002064',
        'output_image: 258 x 40.00 per million = 0.01032',
      ],
    ],
  ] as const) {
    const answer = await gateway.post(`/v1/images/${path}`, {
      ...{ model: 'imga-max', prompt: 'a boat', size: '64x64' },
      ...more,
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    const id = requestIdOf(answer)
    await rowOf(gateway, id)
    const { body: why } = await gateway.admin('GET', `/explain/${id}`)
    expect(why.steps).toEqual(expect.arrayContaining([...lines]))
    expect(billionths(why.charge)).toBe(explainedNanos(why.steps, why.factors))
  }
})

test('the list of prices shows every term of txta-max', async () => {
  const { body } = await gateway.admin('GET', '/prices?model=txta-max')
  const [{ per_million: rates, service_tiers: tiers, geo, hours }] = body.items
  expect(Object.keys(rates)).toHaveLength(9)
  expect(Object.keys(tiers).sort()).toEqual(['batch', 'fast', 'flex', 'priority'])
  expect([Object.keys(geo), hours.length]).toEqual([['us'], 2])
})
