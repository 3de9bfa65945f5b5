// Prices of real models are imported from both public lists and charged for the makers' examples of usage: the charge is
// what the maker's price page gives, and what the import could not carry is told by the name of its field.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { plainName } from '../../src/lib/text/plain-name.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requests, startPricedUpstream } from '../support/priced-upstream.ts'
import { chargeOf, nanos, requestIdOf, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'
import { makerPages } from './maker-pages.ts'
import { listOf, type MakerCase, makerCases } from './maker-prices.ts'

const upstream = startPricedUpstream()
const drawing = startUpstream(({ body }) => {
  const { usage } = makerCases.find(({ model }) => body.includes(model))!
  return jsonReply({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], usage })
})
const config = {
  accounts: [{ name: 'acme', balance: '100000' }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  channels: [
    {
      name: 'up',
      keys: ['upk-0123456789'],
      protocols: { ...upstream.protocols, images: drawing.chat },
      models: { '*': '*' },
    },
  ],
}
let gateway: TestGateway
const remarks: string[] = []

beforeAll(async () => {
  gateway = await startGateway({ config: JSON.stringify(config) })
  for (const list of ['litellm', 'models.dev'] as const) {
    const source = { source: list, text: JSON.stringify(listOf(list)) }
    const made = await gateway.admin('POST', '/prices/convert', source)
    expect(made.status).toBe(200)
    remarks.push(...made.body.remarks)
    const list_ = { format: 'yaml', text: made.body.text }
    const taken = await gateway.admin('POST', '/prices/import', list_)
    expect([taken.status, taken.body.error]).toEqual([200, undefined])
  }
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.findings ?? []).toEqual([])
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
  await drawing.stop()
})

/** In nano-dollars, rounded half up: the test's own arithmetic. */
function expected({ lines, calls = '0' }: MakerCase): bigint {
  const millionths = lines.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * nanos(rate), 0n)
  return (millionths + 500_000n) / 1_000_000n + nanos(calls)
}

const asText = ({ usage, served: { tier, ...served } = {} }: MakerCase) => ({
  ...served,
  ...(tier !== undefined && { tier }),
  more: { cache_creation: undefined, ...usage },
})

test('there are more than thirty models', () => {
  expect(new Set(makerCases.map(({ model }) => model)).size).toBe(makerCases.length)
  expect(makerCases.length).toBeGreaterThan(30)
})

test('each row says where its rates can be read, and which of them cannot', () => {
  expect(Object.keys(makerPages).toSorted()).toEqual(
    makerCases.map(({ model }) => model).toSorted(),
  )
  for (const { model, lines } of makerCases) {
    const { by, urls, rates, times = '1', unnamed = [] } = makerPages[model]!
    const named = new Set(rates.map((rate) => nanos(rate) * nanos(times)))
    const missing = lines
      .map(([, rate]) => rate)
      .filter((rate) => !named.has(nanos(rate) * nanos('1')))
    expect([model, missing.toSorted()]).toEqual([model, [...unnamed].toSorted()])
    expect([model, urls.length > 0]).toEqual([model, by !== 'nobody'])
  }
})

test.each(makerCases.map((each) => [each.model, each] as const))(
  '%s costs what its maker says',
  async (_name, each) => {
    const model = plainName(each.model)
    let answer: Response
    if (each.style === 'images') {
      const body = { model, prompt: `draw ${each.model}`, response_format: 'b64_json' }
      answer = await gateway.post('/v1/images/generations', body)
    } else {
      const word = `case-${model.replaceAll('.', '-')}-x`
      upstream.tell(word, asText(each))
      const { path, body } = requests[each.style](model, word, false)
      const asks = each.usage['iterations'] !== undefined
      const more = asks ? { context_management: { edits: [{ type: 'compact_20260112' }] } } : {}
      answer = await gateway.post(path, {
        ...body,
        ...(each.style === 'messages' && { max_tokens: 20_000 }),
        ...more,
      })
    }
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    await rowOf(gateway, requestIdOf(answer))
    const charge = await chargeOf(gateway, requestIdOf(answer))
    expect(-nanos(charge?.amount ?? '0')).toBe(expected(each))
  },
)

test.each(
  makerCases.filter(({ lost }) => lost !== undefined).map((each) => [each.model, each] as const),
)('what of %s is not carried is told by name', (_name, { model, lost = [] }) => {
  for (const field of lost) {
    const told = remarks.find((line) => line.startsWith(`not carried: ${field}`))
    expect(told).toContain(model)
  }
})
