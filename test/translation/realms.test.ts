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
  const own = { caller, first: caller, second: caller, isSameMaker: false }
  // One realm by mistake: only the upstream itself can say that it is another maker.
  cases.set(`${caller}-refused`, { ...own, settings: { realm: 'one' } })
  cases.set(`${caller}-strict`, { ...own, settings: { realm: 'one', translation: 'strict' } })
  cases.set(`${caller}-same`, { ...own, isSameMaker: true, settings: { realm: 'one' } })
  cases.set(`${caller}-other`, { ...own, settings: {} })
  cases.set(`${caller}-native`, { ...own, first: over, settings: {} })
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
  for (const model of [...cases.keys()].filter(comesLater)) {
    await gateway.admin('POST', '/channels', channelOf(model, 'second'))
  }
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([same.stop(), other.stop()])
})

const channelOf = (model: string, place: 'first' | 'second') => {
  const each = cases.get(model)!
  const wire = each[place]
  const { protocols } = place === 'first' ? first : each.isSameMaker ? same : other
  return {
    name: `${model}-${place}`,
    keys: [key],
    protocols: { [wire]: protocols[wire] },
    models: { [model]: 'txta-plus' },
    priority: place === 'first' ? 1 : 0,
    ...each.settings,
  }
}

/** An upstream of the caller's own style would be preferred. */
const comesLater = (model: string) => model.endsWith('-native')

function configOf(): string {
  const all = [...cases]
  return JSON.stringify({
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: all.flatMap(([model]) => [
      channelOf(model, 'first'),
      ...(comesLater(model) ? [] : [channelOf(model, 'second')]),
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
  requestId: string
  translation: string | null
  lost: string | null
}

async function send(
  style: Wire,
  model: string,
  more: Any[],
  isStream = false,
  settings: object = {},
): Promise<Sent> {
  const { path, body } = callers[style]
  const isGenerate = style === 'generate'
  const address: string = path(model)
  const answer = await gateway.post(
    isStream ? address.replace(':generateContent', ':streamGenerateContent?alt=sse') : address,
    { ...body(model, more), ...(isStream && !isGenerate && { stream: true }), ...settings },
  )
  const text = await answer.text()
  return {
    status: answer.status,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
    requestId: answer.headers.get('x-request-id')!,
    translation: answer.headers.get('x-gateway-translation'),
    lost: answer.headers.get('x-gateway-translation-loss'),
  }
}

const goOn = (model: string, isStream = false, settings: object = {}) => {
  const { caller } = cases.get(model)!
  return send(caller, model, callers[caller].goOn(opened.get(model)), isStream, settings)
}

/** The row of a refused call is written after the answer. */
async function rowOf({ requestId }: Sent): Promise<Any> {
  for (;;) {
    const { status, body } = await gateway.admin('GET', `/requests/${requestId}`)
    if (status === 200) return body
  }
}

const statusesOf = (row: Any): unknown[] =>
  row.attempts.flatMap(({ channel, status }: Any) =>
    channel.endsWith('-second') ? [status ?? null] : [],
  )

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

const forms = wires.flatMap((caller) => [[caller, 'JSON'] as const, [caller, 'stream'] as const])

describe('calls in the style of the upstream', () => {
  test.each(forms)(
    '%s, %s: a seal that is refused costs one more attempt',
    async (caller, form) => {
      const answer = await goOn(`${caller}-refused`, form === 'stream')
      expect(answer).toMatchObject({
        status: 200,
        translation: `${caller}>${caller}`,
        lost: lostAs[caller],
      })
      expect(answer.text).toContain('sunny')
      const row = await rowOf(answer)
      expect(statusesOf(row)).toEqual([400, 200])
      expect(row).toMatchObject({
        status: 200,
        translation: `${caller}>${caller}`,
        translation_losses: [lostAs[caller]],
      })
      // Only the answer is paid.
      const { input_tokens: input, output_tokens: output } = row.usage
      expect(Number(row.charge)).toBeCloseTo((input + 2 * output) / 1_000_000, 9)
      expect(row.loss).toBe('0.00')
    },
  )

  test.each(forms)('%s, %s: a strict channel passes the refusal on', async (caller, form) => {
    const answer = await goOn(`${caller}-strict`, form === 'stream')
    expect(answer).toMatchObject({ status: 400, lost: null })
    expect(answer.text).toMatch(/signature|could not be verified/i)
    expect(statusesOf(await rowOf(answer))).toEqual([400])
  })

  test.each(wires)('%s: the same maker gets the seals, byte for byte', async (caller) => {
    const answer = await goOn(`${caller}-same`)
    expect(answer).toMatchObject({ status: 200, translation: null, lost: null })
    expect(statusesOf(await rowOf(answer))).toEqual([200])
  })

  test.each(wires)('%s: after a failure, another realm gets none at once', async (caller) => {
    const answer = await goOn(`${caller}-other`)
    expect(answer).toMatchObject({ status: 200, lost: lostAs[caller] })
    expect(statusesOf(await rowOf(answer))).toEqual([200])
  })

  test.each(forms)('%s, %s: what was translated before goes on natively', async (caller, form) => {
    const answer = await goOn(`${caller}-native`, form === 'stream')
    expect(answer).toMatchObject({ status: 200, lost: lostAs[caller] })
    expect(answer.text).toContain('sunny')
    expect(statusesOf(await rowOf(answer))).toEqual([200])
  })

  test.each([
    ['without a signature', { type: 'thinking', thinking: 'Hm.', signature: '' }],
    ['that is redacted', { type: 'redacted_thinking', data: 'by another' }],
  ])('messages: thinking %s is refused and left out', async (_, block) => {
    const model = 'messages-refused'
    const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }
    const answer = await send('messages', model, callers.messages.goOn({ content: [block, call] }))
    expect(answer).toMatchObject({ status: 200, lost: 'thinking.signature' })
    expect(statusesOf(await rowOf(answer))).toEqual([400, 200])
  })

  test('a budget for thinking is left out of a turn that lost its thinking', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 }
    const answer = await goOn('messages-refused', false, { thinking })
    expect(answer).toMatchObject({ status: 200, lost: 'thinking;thinking.signature' })
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
