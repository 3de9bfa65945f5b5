// What becomes of the calls after a fault: kept connections that die, keys that are told to pause,
// channels that fail in a row. One gateway of its own, because the retry budget is the gateway's.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorIn, nanos, rowOf, until } from '../support/read.ts'
import { type Answer, type Caller, openCaller } from './caller.ts'
import { answered, canary, type Scene, wholeAnswer } from './fault.ts'
import { type RawUpstream, settle, startRawUpstream, type Wire } from './raw-upstream.ts'
import { all, good, type StyleName, styles } from './styles.ts'

const token = 'sk-after-0123456789abcdefghijklmn'
const secondKey = 'upk-second-90ab12cd34ef5678'
/** Failures in a row after which a channel is not asked at all for a while. */
const blockAfter = 20

let upstream: RawUpstream
let gateway: TestGateway
let caller: Caller

interface Served {
  model: string
  style: StyleName
  /** One list per channel. */
  keys: readonly (readonly string[])[]
}
const served: Served[] = [
  ...all.flatMap((style): Served[] => [
    { model: `kept-${style}`, style, keys: [[canary]] },
    { model: `stale-${style}`, style, keys: [[canary]] },
    { model: `pause-${style}`, style, keys: [[canary, secondKey]] },
    { model: `denied-${style}`, style, keys: [[canary, secondKey]] },
    { model: `burst-${style}`, style, keys: [[canary]] },
  ]),
  { model: 'both-fail', style: 'chat', keys: [[canary], [secondKey]] },
  { model: 'more-said', style: 'chat', keys: [[canary]] },
]

beforeAll(async () => {
  upstream = await startRawUpstream()
  const address = `http://127.0.0.1:${upstream.port}`
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token }],
      channels: served.flatMap(({ model, style, keys }) =>
        keys.map((each, index) => ({
          name: `c-${model}-${index}`,
          keys: each,
          protocols: { [style]: address + styles[style].basePath },
          models: { [model]: '*' },
          max_concurrency: 1_000,
        })),
      ),
      models: served.map(({ model, style }) => ({
        name: model,
        kind: 'text',
        interfaces: [style],
      })),
      prices: served.map(({ model }) => ({
        model,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
  caller = await openCaller(gateway.url)
})
afterAll(async () => {
  caller.close()
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const askOn = (connection: Caller, style: StyleName, model: string): Promise<Answer> =>
  connection.post(styles[style].path(model, false), token, styles[style].ask(model, false))
const ask = (style: StyleName, model: string): Promise<Answer> => askOn(caller, style, model)
const askedFor = (model: string) => upstream.asked.filter((each) => each.model === model)
const wellFor = (style: StyleName, model: string): string =>
  wholeAnswer({ style: styles[style], mode: 'json', model } as Scene, good)
const broken = answered('500 Oops', '{"error":{"message":"down"}}')

describe('a kept connection', () => {
  test.each(all)(
    'that dies under the request is a failure, and it is not sent again (F6 %s)',
    async (style) => {
      const model = `kept-${style}`
      const well = wellFor(style, model)
      upstream.on(model, (wire) => (askedFor(model).length === 2 ? wire.reset() : wire.send(well)))
      expect((await ask(style, model)).status).toBe(200)
      const answer = await ask(style, model)
      expect([answer.status, errorIn(answer.text).code]).toEqual([502, 'upstream_unreachable'])
      const [first, second, ...more] = askedFor(model).map(({ turn }) => turn)
      expect([second, more]).toEqual([first! + 1, []])
      expect((await rowOf(gateway, answer.headers['x-request-id']!)).charge).toBe('0.00')
      expect((await ask(style, model)).status).toBe(200)
    },
  )

  test.each(all)('that was closed meanwhile is not used (F6 %s)', async (style) => {
    const model = `stale-${style}`
    const well = wellFor(style, model)
    upstream.on(model, async (wire: Wire) => {
      await wire.send(well)
      await settle()
      wire.end()
    })
    for (let call = 0; call < 3; call++) {
      expect((await ask(style, model)).status).toBe(200)
      await settle(150)
    }
    // The first call may have found a connection that another test left behind.
    expect(
      askedFor(model)
        .map(({ turn }) => turn)
        .slice(1),
    ).toEqual([1, 1])
  })

  test('with bytes nobody asked for gives them to nobody', async () => {
    const well = wellFor('chat', 'more-said')
    const poison = well.replace('Hello there.', 'Hello other')
    upstream.on('more-said', async (wire: Wire) => {
      await wire.send(wire.asked.turn === 1 ? well + poison : poison)
      await settle()
      await wire.send(poison)
    })
    for (let call = 0; call < 5; call++) {
      const answer = await ask('chat', 'more-said')
      expect([answer.status, answer.text.includes('Hello there.')]).toEqual([200, true])
      if (call % 2 === 0) await settle(60)
    }
  })
})

describe('a channel with two keys', () => {
  const refusals: [name: string, status: string, more: string][] = [
    ['pause', '429 Slow down', 'retry-after: 60\r\n'],
    ['denied', '401 Unauthorized', ''],
  ]
  const cases = refusals.flatMap(([name, status, more]) =>
    all.map((style): [string, StyleName, string, string] => [name, style, status, more]),
  )
  test.each(cases)(
    'one of which is told to %s uses the other (%s)',
    async (name, style, status, more) => {
      const model = `${name}-${style}`
      const refusal = answered(status, '{"error":{"message":"no"}}', 'application/json', more)
      upstream.on(model, (wire) =>
        wire.send(wire.asked.key === canary ? refusal : wellFor(style, model)),
      )
      for (let call = 0; call < 6; call++) expect((await ask(style, model)).status).toBe(200)
      const asked = askedFor(model).map(({ key }) => key)
      expect(asked.filter((key) => key === canary)).toHaveLength(1)
      expect(asked.filter((key) => key === secondKey)).toHaveLength(6)
    },
  )
})

describe('a channel that fails in a row', () => {
  test.each(all)('is left alone for a while, and comes back by itself (F15 %s)', async (style) => {
    const model = `burst-${style}`
    upstream.on(model, (wire) => wire.send(broken))
    let answer = await ask(style, model)
    let calls = 1
    for (; answer.status === 502 && calls < 3 * blockAfter; calls++)
      answer = await ask(style, model)
    const overload = style === 'messages' ? 529 : 503
    expect([answer.status, errorIn(answer.text).code]).toEqual([overload, 'no_available_channel'])
    expect(Number(answer.headers['retry-after'])).toBeWithin(1, 601)
    expect(askedFor(model).length).toBeGreaterThanOrEqual(blockAfter)
    expect(askedFor(model).length).toBeLessThanOrEqual(1.2 * calls)
    const before = askedFor(model).length
    for (let call = 0; call < 5; call++) {
      expect((await ask(style, model)).status).toBe(overload)
    }
    expect(askedFor(model).length).toBe(before)
    upstream.on(model, (wire) => wire.send(wellFor(style, model)))
    await until('the channel to be asked again', async () =>
      (await ask(style, model)).status === 200 ? true : undefined,
    )
    expect((await ask(style, model)).status).toBe(200)
  })

  test('together with all others is not asked much more often than callers ask', async () => {
    const calls = 200
    upstream.on('both-fail', async (wire: Wire) => {
      await settle(50)
      await wire.send(broken)
    })
    const statuses = await Promise.all(
      Array.from({ length: calls }, async () => {
        const own = await openCaller(gateway.url)
        const { status } = await askOn(own, 'chat', 'both-fail')
        own.close()
        return status
      }),
    )
    expect(new Set(statuses).isSubsetOf(new Set([502, 503]))).toBe(true)
    expect(askedFor('both-fail').length).toBeLessThanOrEqual(1.2 * calls)
  })
})

test('after all of this nothing is held and the books are right', async () => {
  expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  const account = await accountOf(gateway)
  expect(account.held).toBe('0.00')
  expect(nanos(account.balance)).toBeLessThan(nanos('100.00'))
})
