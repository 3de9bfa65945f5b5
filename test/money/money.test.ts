// Money over real HTTP: what is held, charged, given back and never lost, seen from outside.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LoggedCall } from '../../sandbox/http/call-log.ts'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  accountOf,
  chargeOf,
  type EntryRow,
  errorOf,
  ledgerOf,
  listAll,
  nanos,
  type RequestRow,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'
import {
  asEvents,
  completion,
  finishChunk,
  jsonReply,
  type ScriptedUpstream,
  startScripted,
  streamReply,
  textChunk,
  usageChunk,
} from '../support/upstream.ts'

const key = 'upk-money-0123456789abcdef'
let sandbox: Sandbox
let own: ScriptedUpstream
let gateway: TestGateway

const configFor = (sandboxUrl: string, ownUrl: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandboxUrl}" }
    models: { txta-plus: "*", txta-turbo: "*" }
    max_concurrency: 1000
  - name: own
    keys: [${key}]
    protocols: { chat: "${ownUrl}" }
    models: { txta-vl-long: "*", cached: "*", uncached: "*", tiny: "*" }
models:
  - { name: cached, kind: text, interfaces: [chat] }
  - { name: uncached, kind: text, interfaces: [chat] }
  - { name: tiny, kind: text, interfaces: [chat] }
prices:
  - model: cached
    unit: token
    per_million: { input: "0.80", output: "2.00", cache_read: "0.08", cache_write: "1.00" }
  - { model: uncached, unit: token, per_million: { input: "0.80", output: "2.00" } }
  - { model: tiny, unit: token, per_million: { input: "0.0000005", output: "0" } }
`

beforeAll(async () => {
  sandbox = startSandbox({ key })
  own = startScripted()
  const config = configFor(sandbox.protocols.chat!, own.chat)
  gateway = await startGateway({ config })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
  await own.stop()
})

let made = 0
/** An account of its own for a test, and a way to ask as it. */
async function newAccount(balance: string) {
  const name = `account-${++made}`
  const account = await gateway.admin('POST', '/accounts', { name, balance })
  expect(account.status).toBe(201)
  const token = await gateway.admin('POST', '/tokens', { account: name, name: 'x' })
  const ask = (content: string, extra: Record<string, unknown> = {}, signal?: AbortSignal) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': token.body.token as string, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'txta-plus',
        messages: [{ role: 'user', content }],
        user: name,
        ...extra,
      }),
      ...(signal !== undefined && { signal }),
    })
  return { name, ask }
}

const callsOf = async (user: string): Promise<LoggedCall[]> => {
  const { calls } = (await (await fetch(`${sandbox.url}/_sandbox/calls`)).json()) as {
    calls: LoggedCall[]
  }
  return calls.filter((call) => call.user === user)
}

const chargesIn = (entries: readonly EntryRow[]) => entries.filter(({ kind }) => kind === 'charge')
const sum = (entries: readonly EntryRow[]) =>
  entries.reduce((total, { amount }) => total + nanos(amount), 0n)

/** The books of an account prove themselves. */
async function booksAreRight(name: string): Promise<void> {
  const account = await accountOf(gateway, name)
  const entries = await ledgerOf(gateway, name)
  const moved = entries.filter(({ kind }) => kind !== 'hold' && kind !== 'release')
  expect(sum(entries)).toBe(nanos(account.available))
  expect(sum(moved)).toBe(nanos(account.balance))
  expect(nanos(account.balance)).toBeGreaterThanOrEqual(0n)
  expect(account.held).toBe('0.00')
  expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
}

const rowsOf = (name: string) => listAll<RequestRow>(gateway, `/requests?account=${name}`)

describe('a balance for ten calls', () => {
  // 10 tokens of input as the sandbox counts it, and 1000 of output.
  const content = '[[sim:tokens=1000]]'
  const costNanos = 10n * 800n + 1000n * 2000n

  /** What one such call holds, from one that takes its time. */
  async function heldFor(extra: Record<string, unknown>): Promise<bigint> {
    const account = await newAccount('1.00')
    const caller = new AbortController()
    const slow = account.ask('[[sim:delay=0005s]]', extra, caller.signal).catch(() => 'gone')
    const held = await until('its hold', async () => {
      const { held } = await accountOf(gateway, account.name)
      return held === '0.00' ? undefined : nanos(held)
    })
    caller.abort()
    await slow
    return held
  }

  async function stampede(extra: Record<string, unknown>) {
    const bounded = { max_tokens: 1000, ...extra }
    const holdNanos = await heldFor(bounded)
    const account = await newAccount(`0.${(holdNanos * 10n).toString().padStart(9, '0')}`)
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const answer = await account.ask(content, bounded)
        return { status: answer.status, text: await answer.text() }
      }),
    )
    const served = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, text } of refused) {
      expect(status).toBe(402)
      expect(JSON.parse(text).error).toMatchObject({
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      })
    }
    const charges = chargesIn(await ledgerOf(gateway, account.name))
    expect(charges).toHaveLength(served.length)
    expect(await callsOf(account.name)).toHaveLength(served.length)
    expect(await rowsOf(account.name)).toHaveLength(200)
    await booksAreRight(account.name)
    return { served: served.length, charges }
  }

  test('serves exactly ten of 200 at once when each says how long it gets', async () => {
    const { served, charges } = await stampede({})
    expect(served).toBe(10)
    for (const { amount } of charges) expect(nanos(amount)).toBe(-costNanos)
  })

  test('serves exactly ten of 200 streams at once', async () => {
    const { served, charges } = await stampede({ stream: true })
    expect(served).toBe(10)
    for (const { amount } of charges) expect(nanos(amount)).toBe(-costNanos)
  })

  test('serves ten of 200 at once when none says so, and more as holds end', async () => {
    const { served } = await stampede({ max_tokens: undefined })
    expect(served).toBeGreaterThanOrEqual(10)
    expect(served).toBeLessThan(100)
  })
})

describe('an account that runs out', () => {
  test('never falls below zero; what it could not pay is noted', async () => {
    const account = await newAccount('0.001')
    // More than the request has bytes, so that no hold could have known.
    own.on(account.name, () =>
      jsonReply(completion({ prompt_tokens: 9_000, completion_tokens: 2 })),
    )
    const answer = await account.ask('x', { model: 'uncached', max_tokens: 2 })
    expect(answer.status).toBe(200)
    await answer.text()
    expect((await accountOf(gateway, account.name)).balance).toBe('0.00')
    const row = await rowOf(gateway, requestIdOf(answer))
    expect(nanos(row.charge)).toBe(nanos('0.001'))
    expect(nanos(row.charge) + nanos(row.loss)).toBe(9_000n * 800n + 2n * 2000n)
    const next = await account.ask('x')
    expect([next.status, (await errorOf(next)).code]).toEqual([402, 'insufficient_quota'])
    await booksAreRight(account.name)
  })

  test('with nothing from the start is refused before any upstream is asked', async () => {
    const account = await newAccount('0')
    expect((await account.ask('x')).status).toBe(402)
    expect(await callsOf(account.name)).toEqual([])
  })

  test('is served again after a top-up', async () => {
    const account = await newAccount('0')
    await gateway.admin('POST', `/accounts/${account.name}/credits`, { amount: '1.00' })
    const answer = await account.ask('x [[sim:tokens=2]]')
    expect(answer.status).toBe(200)
    await answer.text()
    await booksAreRight(account.name)
  })
})

describe('a caller who hangs up', () => {
  test('of a JSON call pays for the answer, which is read on', async () => {
    const account = await newAccount('1.00')
    const caller = new AbortController()
    const call = account.ask('x [[sim:delay=1s]]', {}, caller.signal).catch(() => 'gone')
    await until('the call upstream', async () => (await callsOf(account.name))[0])
    caller.abort()
    expect(await call).toBe('gone')
    const row = await until('its row', async () => (await rowsOf(account.name))[0])
    expect([row.ending, row.status, row.error_code, row.stream]).toEqual([
      'caller_left',
      499,
      null,
      false,
    ])
    const [logged] = await callsOf(account.name)
    expect(nanos(row.charge)).toBe(
      BigInt(logged!.prompt_tokens * 800 + logged!.completion_tokens * 2000),
    )
    expect(chargesIn(await ledgerOf(gateway, account.name))).toHaveLength(1)
    await booksAreRight(account.name)
  })

  test('of a stream before the first byte pays nothing', async () => {
    const stream = true
    const account = await newAccount('1.00')
    const caller = new AbortController()
    const call = account.ask('x [[sim:delay=5s]]', { stream }, caller.signal).catch(() => 'gone')
    await until('the call upstream', async () => (await callsOf(account.name))[0])
    expect(nanos((await accountOf(gateway, account.name)).held)).toBeGreaterThan(0n)
    caller.abort()
    expect(await call).toBe('gone')
    const row = await until('its row', async () => (await rowsOf(account.name))[0])
    expect([row.ending, row.status, row.error_code, row.charge, row.stream]).toEqual([
      'caller_left',
      499,
      'caller_left',
      '0.00',
      stream,
    ])
    expect((await callsOf(account.name))[0]?.finished).toBe(false)
    expect(chargesIn(await ledgerOf(gateway, account.name))).toEqual([])
    await booksAreRight(account.name)
  })

  /** Reads the first bytes of a stream and leaves. */
  async function leaveEarly(account: Awaited<ReturnType<typeof newAccount>>, content: string) {
    const caller = new AbortController()
    const answer = await account.ask(content, { stream: true }, caller.signal)
    expect(answer.status).toBe(200)
    await answer.body!.getReader().read()
    caller.abort()
    return requestIdOf(answer)
  }

  test('mid-stream pays the real usage', async () => {
    const account = await newAccount('1.00')
    const id = await leaveEarly(account, 'x [[sim:tokens=40]] [[sim:chunk=75ms]]')
    expect(await chargeOf(gateway, id)).toBeUndefined()
    const charge = await until('the charge', () => chargeOf(gateway, id))
    const call = (await callsOf(account.name))[0]!
    expect([call.completion_tokens, call.finished]).toEqual([40, true])
    expect(nanos(charge.amount)).toBe(-BigInt(call.prompt_tokens * 800 + 40 * 2000))
    expect([charge.quantity, charge.estimated]).toEqual([call.prompt_tokens + 40, false])
    const row = await rowOf(gateway, id)
    expect([row.ending, row.status, row.estimated]).toEqual(['caller_left', 499, false])
    await booksAreRight(account.name)
  })

  test('mid-stream pays nothing when the upstream then breaks off', async () => {
    const account = await newAccount('1.00')
    const id = await leaveEarly(account, 'x [[sim:tokens=40]] [[sim:chunk=20ms]] [[sim:cut=8]]')
    const row = await rowOf(gateway, id)
    expect(row.charge).toBe('0.00')
    expect(chargesIn(await ledgerOf(gateway, account.name))).toEqual([])
    await booksAreRight(account.name)
  })
})

describe('usage', () => {
  const streamOf = (usage: unknown, model: string) =>
    streamReply([
      asEvents([
        textChunk('Hello there.', model),
        finishChunk(model),
        ...(usage === undefined ? [] : [usageChunk(usage, model)]),
        '[DONE]',
      ]),
    ])

  /** One call whose upstream reports this; gives its charge and its row. */
  async function charged(usage: unknown, model = 'uncached', stream = false) {
    const account = await newAccount('10.00')
    own.on(account.name, () =>
      stream ? streamOf(usage, model) : jsonReply({ ...completion(undefined, model), usage }),
    )
    const answer = await account.ask('hello', { model, stream })
    expect(answer.status).toBe(200)
    await answer.text()
    const charge = (await chargeOf(gateway, requestIdOf(answer)))!
    const row = await rowOf(gateway, requestIdOf(answer))
    await booksAreRight(account.name)
    return { charge, row, account }
  }

  test.each([false, true])('missing is counted and marked (stream: %p)', async (stream) => {
    const account = await newAccount('1.00')
    const answer = await account.ask('hello [[sim:no-usage]] [[sim:tokens=20]]', { stream })
    await answer.text()
    const charge = (await chargeOf(gateway, requestIdOf(answer)))!
    const row = await rowOf(gateway, requestIdOf(answer))
    expect([charge.estimated, row.estimated, row.ending]).toEqual([true, true, 'complete'])
    expect(nanos(charge.amount)).toBeLessThan(0n)
    expect(row.usage?.output_tokens).toBeGreaterThan(0)
    expect(`-${row.charge}`).toBe(charge.amount)
  })

  const good = { prompt_tokens: 10, completion_tokens: 5 }
  const absurd: [string, unknown][] = [
    ['negative input', { ...good, prompt_tokens: -10_000 }],
    ['negative output', { ...good, completion_tokens: -10_000 }],
    ['strings', { prompt_tokens: '10', completion_tokens: '5' }],
    ['fractions', { prompt_tokens: 10.5, completion_tokens: 5 }],
    ['half of it', { prompt_tokens: 10 }],
    ['nulls', { prompt_tokens: null, completion_tokens: null }],
    ['no object', 'much'],
    ['a list', [10, 5]],
  ]
  const both = absurd.flatMap((row) => [[...row, false] as const, [...row, true] as const])
  test.each(both)('that is absurd (%s) is estimated', async (_, usage, stream) => {
    const { charge, row } = await charged(usage, 'uncached', stream)
    expect([charge.estimated, row.estimated]).toEqual([true, true])
    expect(nanos(charge.amount)).toBeLessThan(0n)
    expect(nanos(charge.amount)).toBeGreaterThan(nanos('-0.001'))
    const isObject = typeof usage === 'object' && !Array.isArray(usage)
    if (isObject) expect(row.usage_reported).toEqual(usage)
  })

  const contradictory: [string, object, number, number][] = [
    ['more cached than input', { cached_tokens: 11 }, 10, 0],
    ['negative cached', { cached_tokens: -11 }, 0, 0],
    ['more written than input', { cached_tokens: 6, cache_creation_input_tokens: 6 }, 6, 4],
    ['negative written', { cache_creation: { ephemeral_5m_input_tokens: -9 } }, 0, 0],
  ]
  const ways = contradictory.flatMap((row) => [[...row, false] as const, [...row, true] as const])
  test.each(ways)('that contradicts itself (%s) is clamped', async (_, details, ...more) => {
    const [read, written, stream] = more
    const usage = { ...good, prompt_tokens_details: details }
    const { row } = await charged(usage, 'uncached', stream)
    expect(row.estimated).toBe(false)
    expect(row.usage).toEqual({
      input_tokens: 10,
      output_tokens: 5,
      cache_read_tokens: read,
      cache_write_tokens: written,
    })
  })

  test.each([false, true])('of zero is a charge of zero (stream: %p)', async (stream) => {
    const { charge, row } = await charged(
      { prompt_tokens: 0, completion_tokens: 0 },
      'uncached',
      stream,
    )
    expect([charge.amount, charge.estimated, charge.quantity]).toEqual(['0.00', false, 0])
    expect([row.charge, row.estimated, row.ending]).toEqual(['0.00', false, 'complete'])
  })

  const tiers: [number, string][] = [
    [31_999, '0.032999'],
    [32_000, '0.033'],
    [32_001, '0.0495015'],
    [128_000, '0.1935'],
    [128_001, '0.387003'],
    [256_000, '0.771'],
    [256_001, '0.771003'],
  ]
  test.each(tiers)('of %d input tokens is priced by its tier: %s', async (input, amount) => {
    const usage = { prompt_tokens: input, completion_tokens: 100 }
    const { charge, row } = await charged(usage, 'txta-vl-long')
    expect(nanos(charge.amount)).toBe(-nanos(amount))
    expect(row.usage).toMatchObject({ input_tokens: input, output_tokens: 100 })
  })

  const caches: [string, object, string, string][] = [
    ['nothing', {}, '0.0009', '0.0009'],
    ['300 read', { cached_tokens: 300 }, '0.000684', '0.0009'],
    ['200 written', { cache_creation_input_tokens: 200 }, '0.00094', '0.0009'],
    ['both', { cached_tokens: 300, cache_creation_input_tokens: 200 }, '0.000724', '0.0009'],
    ['everything read', { cached_tokens: 1000 }, '0.00018', '0.0009'],
    [
      'written, one level down',
      { cache_creation: { cache_creation_input_tokens: 200 } },
      '0.00094',
      '0.0009',
    ],
    [
      'written, by lifetime',
      { cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 } },
      '0.00097',
      '0.00094',
    ],
  ]
  test.each(caches)(
    'with a cache (%s) is priced by its parts',
    async (_, details, cached, plain) => {
      const usage = { prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: details }
      expect(nanos((await charged(usage, 'cached')).charge.amount)).toBe(-nanos(cached))
      expect(nanos((await charged(usage, 'uncached')).charge.amount)).toBe(-nanos(plain))
    },
  )

  const roundings: [number, string][] = [
    [999, '0.00'],
    [1000, '-0.000000001'],
    [2999, '-0.000000001'],
    [3000, '-0.000000002'],
  ]
  test.each(roundings)(
    'of %d tokens at half a nano per thousand rounds to %s',
    async (input, amount) => {
      const { charge } = await charged({ prompt_tokens: input, completion_tokens: 0 }, 'tiny')
      expect(charge.amount).toBe(amount)
    },
  )

  test('is explained by steps that end in the amount charged', async () => {
    const details = { cached_tokens: 300, cache_creation_input_tokens: 200 }
    for (const [usage, model] of [
      [{ ...good, prompt_tokens_details: { cached_tokens: 4 } }, 'cached'],
      [{ prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: details }, 'cached'],
      [{ prompt_tokens: 32_001, completion_tokens: 7 }, 'txta-vl-long'],
      [undefined, 'uncached'],
      [{ prompt_tokens: 0, completion_tokens: 0 }, 'uncached'],
    ] as const) {
      const { charge, row } = await charged(usage, model)
      const { body } = await gateway.admin('GET', `/explain/${row.request_id}`)
      const explained = body as {
        charge: string
        currency: string
        estimated: boolean
        price: { id: string }
        steps: string[]
        entries: EntryRow[]
      }
      expect([explained.charge, explained.currency]).toEqual([row.charge, 'CNY'])
      expect(nanos(explained.charge)).toBe(-nanos(charge.amount))
      expect(explained.entries).toEqual([charge])
      expect(explained.price.id).toBe(charge.price_id!)
      expect(explained.estimated).toBe(charge.estimated)
      expect(explained.steps.some((s) => s.endsWith(`rounded half up to ${row.charge} CNY`))).toBe(
        true,
      )
    }
  })

  test('that cost nothing is explained too', async () => {
    const account = await newAccount('1.00')
    const answer = await account.ask('[[sim:status=500]]')
    await rowOf(gateway, requestIdOf(answer))
    const { body } = await gateway.admin('GET', `/explain/${requestIdOf(answer)}`)
    expect(body).toMatchObject({ charge: '0.00', usage: null, entries: [] })
    expect(body.steps[0]).toContain('nothing was charged')
  })
})

describe('a price', () => {
  test('that changes during a stream counts from the next call on', async () => {
    const account = await newAccount('1.00')
    const content = 'x [[sim:tokens=25]] [[sim:chunk=20ms]]'
    const answer = await account.ask(content, { model: 'txta-turbo', stream: true })
    const reader = answer.body!.getReader()
    await reader.read()
    const dearer = await gateway.admin('POST', '/prices', {
      model: 'txta-turbo',
      unit: 'token',
      per_million: { input: '30.00', output: '60.00' },
    })
    expect([dearer.status, dearer.body.current]).toEqual([201, true])
    expect(await chargeOf(gateway, requestIdOf(answer))).toBeUndefined()
    while (!(await reader.read()).done);
    const first = (await chargeOf(gateway, requestIdOf(answer)))!
    const input = first.quantity! - 25
    expect(nanos(first.amount)).toBe(-BigInt(input * 300 + 25 * 600))
    expect(first.price_id).not.toBe(dearer.body.id)
    const second = await account.ask(content, { model: 'txta-turbo', stream: true })
    await second.text()
    const later = (await chargeOf(gateway, requestIdOf(second)))!
    expect(nanos(later.amount)).toBe(100n * nanos(first.amount))
    expect(later.price_id).toBe(dearer.body.id)
    await booksAreRight(account.name)
  })

  test('of a charge is durable before the answer ends', async () => {
    const account = await newAccount('1.00')
    for (const stream of [false, true]) {
      for (let i = 0; i < 5; i++) {
        const answer = await account.ask(`${i} [[sim:tokens=3]]`, { stream })
        await answer.text()
        expect(await chargeOf(gateway, requestIdOf(answer))).toBeDefined()
      }
    }
  })
})

test('the request log tells the whole story of a call', async () => {
  const account = await newAccount('1.00')
  const answer = await account.ask('hello [[sim:tokens=6]]')
  await answer.text()
  const [call] = await callsOf(account.name)
  const row = await rowOf(gateway, requestIdOf(answer))
  const charge = (await chargeOf(gateway, requestIdOf(answer)))!
  expect(row).toMatchObject({
    request_id: requestIdOf(answer),
    account_id: (await accountOf(gateway, account.name)).id,
    interface: 'chat',
    model: 'txta-plus',
    upstream_model: 'txta-plus',
    channel: 'simulated',
    upstream_request_id: call!.id,
    status: 200,
    error_code: null,
    ending: 'complete',
    stream: false,
    loss: '0.00',
    estimated: false,
    usage: {
      input_tokens: call!.prompt_tokens,
      output_tokens: 6,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
    },
    price_id: charge.price_id!,
  })
  expect(row.attempts).toMatchObject([{ channel: 'simulated', status: 200 }])
  expect(row.token_id).toStartWith('tok_')
  expect(nanos(row.charge)).toBe(-nanos(charge.amount))
  expect(charge).toMatchObject({ model: 'txta-plus', unit: 'token', kind: 'charge' })
  expect(charge.quantity).toBe(call!.prompt_tokens + 6)
  expect(row.total_ms).toBeGreaterThanOrEqual(row.first_byte_ms!)
})

describe('credits', () => {
  const credit = async (name: string, body: unknown, idempotencyKey?: string) => {
    const response = await fetch(`${gateway.url}/admin/v1/accounts/${name}/credits`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adminToken}`,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as { balance?: string } }
  }
  const balanceOf = async (name: string) => (await accountOf(gateway, name)).balance

  test('add and take back, and never more than there is', async () => {
    const { name } = await newAccount('1.00')
    const up = await credit(name, { amount: '2.50', note: 'paid' })
    expect([up.status, up.body.balance]).toEqual([201, '3.50'])
    const down = await credit(name, { amount: '-1.000000001', note: 'back' })
    expect([down.status, down.body.balance]).toEqual([201, '2.499999999'])
    expect((await credit(name, { amount: '-2.50' })).status).toBe(409)
    expect(await balanceOf(name)).toBe('2.499999999')
    expect((await credit(name, { amount: '-2.499999999' })).body.balance).toBe('0.00')
    const entries = await ledgerOf(gateway, name)
    const kinds = entries.map(({ kind, amount, note }) => [kind, amount, note])
    expect(kinds.toSorted()).toEqual(
      [
        ['credit', '1.00', 'opening balance'],
        ['credit', '2.50', 'paid'],
        ['adjust', '-1.000000001', 'back'],
        ['adjust', '-2.499999999', null],
      ].toSorted(),
    )
    await booksAreRight(name)
  })

  test.each([
    '0',
    '0.00',
    '1e3',
    'ten',
    '',
    '1.0000000001',
    '+1',
    ' 1',
    '1,5',
    5,
    null,
    '9999999999',
  ])('of %j are refused', async (amount) => {
    const { name } = await newAccount('1.00')
    expect((await credit(name, { amount })).status).toBe(400)
    expect(await balanceOf(name)).toBe('1.00')
  })

  test('with an idempotency key happen once, also when they come at once', async () => {
    const { name } = await newAccount('1.00')
    const same = () => credit(name, { amount: '5.00' }, 'topup-1')
    const answers = await Promise.all(Array.from({ length: 10 }, same))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect((await same()).status).toBe(201)
    expect(await balanceOf(name)).toBe('6.00')
    await credit(name, { amount: '5.00' }, 'topup-2')
    expect(await balanceOf(name)).toBe('11.00')
    const other = await newAccount('1.00')
    await credit(other.name, { amount: '5.00' }, 'topup-1')
    expect(await balanceOf(other.name)).toBe('6.00')
    await booksAreRight(name)
  })

  test('taken back with an idempotency key can be repeated though the money is gone', async () => {
    const { name } = await newAccount('1.00')
    const back = () => credit(name, { amount: '-0.80' }, 'back-1')
    expect((await back()).status).toBe(201)
    expect(await balanceOf(name)).toBe('0.20')
    expect((await back()).status).toBe(201)
    expect(await balanceOf(name)).toBe('0.20')
  })

  test('with a used idempotency key and another amount change nothing', async () => {
    const { name } = await newAccount('1.00')
    await credit(name, { amount: '5.00' }, 'key')
    await credit(name, { amount: '7.00' }, 'key')
    await credit(name, { amount: '-2.00' }, 'key')
    expect(await balanceOf(name)).toBe('6.00')
  })

  test('cannot take back what a running call holds', async () => {
    const account = await newAccount('0.02')
    const caller = new AbortController()
    const running = account
      .ask('x [[sim:delay=5s]]', { max_tokens: 5000, stream: true }, caller.signal)
      .catch(() => 'gone')
    await until('the call upstream', async () => (await callsOf(account.name))[0])
    expect((await credit(account.name, { amount: '-0.015' })).status).toBe(409)
    expect((await credit(account.name, { amount: '-0.005' })).status).toBe(201)
    caller.abort()
    await running
    await until('the release', async () =>
      (await accountOf(gateway, account.name)).held === '0.00' ? true : undefined,
    )
    await booksAreRight(account.name)
  })
})

test('over all accounts the audit finds every entry and no problem', async () => {
  const { body } = await gateway.admin('POST', '/audit')
  const accounts = await listAll<{ name: string }>(gateway, '/accounts')
  expect([body.ok, body.problems, body.accounts]).toEqual([true, [], accounts.length])
  let entries = 0
  for (const { name } of accounts) entries += (await ledgerOf(gateway, name)).length
  expect(body.entries).toBe(entries)
})
