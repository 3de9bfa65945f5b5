// Sealed reasoning goes back to its maker only: when an upstream of another style continues a
// conversation, it gets the conversation without the seals, and the caller an answer.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { askedOf } from '../support/asked.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { callers, lostAs, seals, type Wire, wires } from './sealed-callers.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const key = 'upk-makers-0123456789abcdef'
const pairs = wires.flatMap((first) =>
  wires.filter((wire) => wire !== first).map((second) => [first, second] as const),
)
const modelOf = (first: string, second: string) => `${first}-then-${second}`

let first: Sandbox
let second: Sandbox
let gateway: TestGateway
/** The answers of the first upstreams, which are gone then. */
const opened = new Map<string, Sent>()
beforeAll(async () => {
  first = startSandbox({ key, maker: 'first', strict: true })
  second = startSandbox({ key, maker: 'second', strict: true })
  const channel = (name: string, model: string, wire: Wire, { protocols }: Sandbox) => ({
    name,
    keys: [key],
    protocols: { [wire]: protocols[wire] },
    models: { [model]: 'txta-plus' },
    priority: name.startsWith('first') ? 1 : 0,
  })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: pairs.flatMap(([a, b]) => [
        channel(`first-${a}-${b}`, modelOf(a, b), a, first),
        channel(`second-${a}-${b}`, modelOf(a, b), b, second),
      ]),
      models: pairs.map(([a, b]) => ({
        name: modelOf(a, b),
        kind: 'text',
        interfaces: [a],
      })),
      prices: pairs.map(([a, b]) => ({
        model: modelOf(a, b),
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
  for (const [a, b] of pairs) opened.set(modelOf(a, b), await send(a, modelOf(a, b), []))
  await first.stop()
})
afterAll(async () => {
  await gateway.stop()
  await second.stop()
})

interface Sent {
  json: Any
  translation: string | null
  lost: string | null
}

async function send(style: Wire, model: string, more: Any[]): Promise<Sent> {
  const { path, body } = callers[style]
  const answer = await gateway.post(path(model), body(model, more))
  const text = await answer.text()
  expect({ status: answer.status, text }).toMatchObject({ status: 200 })
  return {
    json: JSON.parse(text),
    translation: answer.headers.get('x-gateway-translation'),
    lost: answer.headers.get('x-gateway-translation-loss'),
  }
}

test.each(pairs)('%s, continued by an upstream of %s', async (a, b) => {
  const model = modelOf(a, b)
  const begun = opened.get(model)!
  expect(begun.translation).toBeNull()
  const { json, translation, lost } = await send(a, model, callers[a].goOn(begun.json))
  expect(JSON.stringify(json)).toContain('sunny')
  expect({ translation, lost }).toEqual({ translation: `${a}>${b}`, lost: lostAs[a] })
  expect((await askedOf(second)).at(-1)?.body?.match(seals)).toBeNull()
})
