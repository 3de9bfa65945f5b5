// Sealed reasoning when another channel continues a conversation: a channel of the same realm gets
// it, any other gets the conversation without it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { askedOf } from '../support/asked.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { callers, lostAs, seals, type Wire, wires } from './sealed-callers.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const key = 'upk-realms-0123456789abcdef'
const limitMs = 30_000

/** Who serves the first turn, and who the second. */
interface Case {
  caller: Wire
  first: Wire
  second: Wire
  /** Whether the second upstream can read the seals of the first. */
  isSameMaker: boolean
  settings: Record<string, unknown>
}

const next: Record<Wire, Wire> = {
  messages: 'responses',
  responses: 'generate',
  generate: 'messages',
}
const cases = new Map<string, Case>()
for (const caller of wires) {
  const over = next[caller]
  const translated = { caller, first: over, second: over, isSameMaker: true }
  cases.set(`${caller}-shared`, { ...translated, settings: { realm: 'one' } })
  cases.set(`${caller}-apart`, { ...translated, settings: {} })
}

let first: Sandbox
let same: Sandbox
let other: Sandbox
let gateway: TestGateway
/** The answers to the first turns. */
const opened = new Map<string, Any>()

beforeAll(async () => {
  first = startSandbox({ key, maker: 'one', strict: true })
  same = startSandbox({ key, maker: 'one', strict: true })
  other = startSandbox({ key, maker: 'two', strict: true })
  gateway = await startGateway({ config: configOf() })
  await Promise.all(
    [...cases].map(async ([model, { caller }]) => {
      opened.set(model, (await send(caller, model, [])).json)
    }),
  )
  await first.stop()
}, limitMs)
afterAll(async () => {
  await gateway.stop()
  await Promise.all([same.stop(), other.stop()])
})

function configOf(): string {
  const all = [...cases]
  const channel = (model: string, name: string, wire: Wire, { protocols }: Sandbox) => ({
    name: `${model}-${name}`,
    keys: [key],
    protocols: { [wire]: protocols[wire] },
    models: { [model]: 'txta-plus' },
    priority: name === 'first' ? 1 : 0,
    ...cases.get(model)!.settings,
  })
  return JSON.stringify({
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: all.flatMap(([model, each]) => [
      channel(model, 'first', each.first, first),
      channel(model, 'second', each.second, each.isSameMaker ? same : other),
    ]),
    models: all.map(([name, { caller }]) => ({ name, kind: 'text', interfaces: [caller] })),
    prices: all.map(([model]) => ({
      model,
      unit: 'token',
      per_million: { input: '1.00', output: '2.00' },
    })),
  })
}

interface Sent {
  status: number
  text: string
  json: Any
  translation: string | null
  lost: string | null
}

async function send(style: Wire, model: string, more: Any[]): Promise<Sent> {
  const { path, body } = callers[style]
  const answer = await gateway.post(path(model), body(model, more))
  const text = await answer.text()
  return {
    status: answer.status,
    text,
    json: JSON.parse(text),
    translation: answer.headers.get('x-gateway-translation'),
    lost: answer.headers.get('x-gateway-translation-loss'),
  }
}

const goOn = (model: string) => {
  const { caller } = cases.get(model)!
  return send(caller, model, callers[caller].goOn(opened.get(model)))
}

describe('translated calls', () => {
  test.each(wires)('%s: a channel of the same realm gets the seals', async (caller) => {
    const answer = await goOn(`${caller}-shared`)
    expect(answer).toMatchObject({ status: 200, lost: null })
    expect((await askedOf(same)).at(-1)?.body?.match(seals)?.length).toBeGreaterThan(0)
  })

  test.each(wires)('%s: another host is another realm by default', async (caller) => {
    const answer = await goOn(`${caller}-apart`)
    expect(answer).toMatchObject({ status: 200, lost: lostAs[caller] })
    expect((await askedOf(same)).at(-1)?.body?.match(seals)).toBeNull()
  })
})

test('the admin API shows and changes the realm of a channel', async () => {
  const made = await gateway.admin('POST', '/channels', {
    name: 'made',
    keys: [key],
    protocols: { messages: 'https://up.example' },
    models: { 'messages-shared': '*' },
    priority: -1,
    realm: 'one',
  })
  expect(made).toMatchObject({ status: 201, body: { realm: 'one' } })
  const path = `/channels/${made.body.id}`
  const kept = await gateway.admin('PATCH', path, { weight: 2 })
  expect(kept.body).toMatchObject({ realm: 'one' })
  const changed = await gateway.admin('PATCH', path, { realm: 'two' })
  expect(changed.body).toMatchObject({ realm: 'two' })
  expect((await gateway.admin('PATCH', path, { realm: 'no name' })).status).toBe(400)
})
