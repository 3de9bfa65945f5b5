// Routing and fail-over over real HTTP: who is asked, who is left alone, what the caller sees, what
// the log tells and what it costs. Every model has channels of its own, so that cases do not meet.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Asked,
  channelAt,
  good,
  isWhole,
  keyOf,
  pathOf,
  type Reply,
  requestOf,
  type Style,
  startUpstreams,
  styles,
  type Upstreams,
} from '../support/channels.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  accountOf,
  chargeOf,
  errorIn,
  ledgerOf,
  listAll,
  type RequestRow,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'
import { asEvents, jsonReply, startUpstream, streamReply, textChunk } from '../support/upstream.ts'

interface AttemptRow {
  channel: string
  key?: number
  after_ms: number
  ms: number
  status?: number
  error?: string
}
const attemptsOf = ({ attempts }: Pick<RequestRow, 'attempts'>) => attempts as AttemptRow[]

let up: Upstreams
beforeAll(() => {
  up = startUpstreams()
})
afterAll(() => up.stop())

const modelRow = (name: string) =>
  name.startsWith('embed')
    ? { name, kind: 'embedding', interfaces: ['embeddings'] }
    : { name, kind: 'text', interfaces: ['chat', 'responses', 'messages'] }

/** JSON is YAML. */
const configOf = (models: readonly string[], channels: readonly object[]): string =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    models: models.map(modelRow),
    prices: models.map((model) => ({
      model,
      unit: 'token',
      per_million: { input: '1.00', output: '2.00' },
    })),
    channels,
  })

interface Seen {
  status: number
  text: string
  whole: boolean
  id: string
  retryAfter: string | null
}

const caller = (gateway: () => TestGateway) =>
  async function ask(
    model: string,
    { style = 'chat' as Style, stream = false, signal = undefined as AbortSignal | undefined } = {},
  ): Promise<Seen> {
    const answer = await fetch(`${gateway().url}${pathOf[style]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(style, model, stream)),
      ...(signal !== undefined && { signal }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      text,
      whole: answer.status === 200 && isWhole(style, stream, text),
      id: requestIdOf(answer),
      retryAfter: answer.headers.get('retry-after'),
    }
  }

/** So many calls, some at once; odd ones are streams where the style has them. */
async function run(calls: number, atOnce: number, one: (i: number) => Promise<Seen>) {
  const seen: Seen[] = []
  let next = 0
  const worker = async () => {
    while (next < calls) seen.push(await one(next++))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return seen
}

const unavailable: Reply = ({ key }) =>
  jsonReply(
    { error: { message: `no capacity at ${up.url} for ${key}`, type: 'server_error' } },
    { status: 503 },
  )
const never = () => new Promise<Response>(() => {})
const garbage: Reply = () => new Response('<html>well</html>', { status: 200 })
const breaksEarly: Reply = () =>
  new Response('data: {"id":"c', { headers: { 'content-type': 'text/event-stream' } })

const rowsOf = (gateway: TestGateway, model: string) =>
  listAll<RequestRow>(gateway, `/requests?model=${model}&limit=500`)

/** Rows without money are written behind the answer. */
const allRowsOf = (gateway: TestGateway, model: string, count: number) =>
  until(`${count} rows of ${model}`, async () => {
    const rows = await rowsOf(gateway, model)
    return rows.length >= count ? rows : undefined
  })

const nothingHeld = (gateway: TestGateway) =>
  until('nothing held', async () => ((await accountOf(gateway)).held === '0.00' ? true : undefined))

async function chargesOf(gateway: TestGateway, model: string): Promise<(string | null)[]> {
  const entries = await ledgerOf(gateway)
  return entries
    .filter((entry) => entry.kind === 'charge' && entry.model === model)
    .map(({ request_id }) => request_id)
}

async function auditPasses(gateway: TestGateway): Promise<void> {
  await nothingHeld(gateway)
  const { body } = await gateway.admin('POST', '/audit')
  expect([body.ok, body.problems]).toEqual([true, []])
}

describe('one of three channels that fails', () => {
  const faults: [name: string, reply: Reply | 'refused', error: string, status?: number][] = [
    ['unavailable', unavailable, 'no capacity at', 503],
    ['refused', 'refused', 'the upstream could not be reached'],
    ['silent', never, 'the upstream did not answer in time'],
    ['garbage', garbage, 'something that is not a'],
    ['cut', breaksEarly, ''],
  ]
  const ways = [
    ['one', 1],
    ['many', 20],
  ] as const
  const cases = faults.flatMap((fault) => ways.map((way) => ({ fault, way })))
  const modelOf = (fault: string, way: string) => `m-${fault}-${way}`
  const others = styles.map((style) => (style === 'embeddings' ? 'embed-other' : `m-${style}`))
  const calls = 300

  let gateway: TestGateway
  const ask = caller(() => gateway)
  /** An address where nobody listens until it heals. */
  let closed: string
  let healed: { stop(force: boolean): Promise<void> } | undefined

  const threeOf = (model: string, refused: boolean): object[] => [
    refused
      ? channelAt(`${closed}/${model}-a`, `${model}-a`, [model])
      : up.channel(`${model}-a`, [model], { timeouts: { first_byte: '300ms' } }),
    up.channel(`${model}-b`, [model]),
    up.channel(`${model}-c`, [model]),
  ]

  beforeAll(async () => {
    const gone = startUpstream(() => new Response())
    closed = gone.url
    await gone.stop()
    const models = cases.map(({ fault, way }) => modelOf(fault[0], way[0]))
    const channels = models.flatMap((model) => threeOf(model, model.startsWith('m-refused')))
    for (const { fault, way } of cases) {
      if (fault[1] !== 'refused') up.on(`${modelOf(fault[0], way[0])}-a`, fault[1])
    }
    for (const model of others) {
      channels.push(...threeOf(model, false))
      up.on(`${model}-a`, unavailable)
    }
    gateway = await startGateway({ config: configOf([...models, ...others], channels) })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await healed?.stop(true)
  })

  /** What the log says of calls that were all served, some of them at the second try. */
  function readLog(rows: readonly RequestRow[], model: string, error: string, status?: number) {
    let extra = 0
    for (const row of rows) {
      expect([row.status, row.ending, row.error_code]).toEqual([200, 'complete', null])
      const attempts = attemptsOf(row)
      const last = attempts.at(-1)!
      expect([last.status, last.error, last.channel]).toEqual([200, undefined, row.channel!])
      expect(attempts.length).toBeLessThanOrEqual(2)
      if (attempts.length === 1) continue
      extra++
      const [first] = attempts as [AttemptRow]
      expect([first.channel, first.status]).toEqual([`${model}-a`, status])
      expect(first.error).toContain(error)
      expect(first.error).not.toContain(keyOf(`${model}-a`))
      expect(first.error).not.toContain(new URL(up.url).host)
      expect(first.after_ms).toBeGreaterThanOrEqual(0)
      expect(last.after_ms).toBeGreaterThanOrEqual(first.after_ms + first.ms)
      expect(row.total_ms).toBeGreaterThanOrEqual(last.after_ms + last.ms)
    }
    return extra
  }

  test.each(cases.map(({ fault, way }) => [fault[0], way[0], fault, way[1]] as const))(
    'is not noticed by callers (%s, %s at once)',
    async (name, way, [, , error, status], atOnce) => {
      const model = modelOf(name, way)
      const seen = await run(calls, atOnce, (i) => ask(model, { stream: i % 2 === 1 }))
      expect(seen.filter(({ whole }) => !whole)).toEqual([])
      const rows = await rowsOf(gateway, model)
      expect(rows.length).toBe(calls)
      const extra = readLog(rows, model, error, status)
      // The breaker opens after three; those at once may all have been sent before, and a slow
      // run has a probe now and then.
      expect(extra).toBeGreaterThanOrEqual(3)
      expect(extra).toBeLessThanOrEqual(3 + 2 * (atOnce - 1) + 3)
      expect(extra).toBeLessThanOrEqual(calls * 0.2)
      if (name !== 'refused') expect(up.asked(`${model}-a`).length).toBe(extra)
      const served = up.asked(`${model}-b`).length + up.asked(`${model}-c`).length
      expect(served).toBe(calls)
    },
  )

  test.each(styles.map((style, i) => [style, others[i]!] as const))(
    'is not noticed by callers of %s',
    async (style, model) => {
      const streams = style !== 'embeddings'
      const seen = await run(60, 3, (i) => ask(model, { style, stream: streams && i % 2 === 1 }))
      expect(seen.filter(({ whole }) => !whole)).toEqual([])
      const rows = await rowsOf(gateway, model)
      const extra = readLog(rows, model, 'no capacity at', 503)
      expect(extra).toBeGreaterThanOrEqual(3)
      expect(extra).toBeLessThanOrEqual(12)
      expect(rows.every((row) => row.interface === style)).toBe(true)
    },
  )

  test('is paid for once a call', async () => {
    const entries = await ledgerOf(gateway)
    const charges = entries.filter(({ kind }) => kind === 'charge')
    expect(charges.length).toBe(cases.length * calls + others.length * 60)
    expect(new Set(charges.map(({ request_id }) => request_id)).size).toBe(charges.length)
    const chat = charges.filter(({ model }) => !model!.startsWith('embed'))
    expect(new Set(chat.map(({ amount }) => amount))).toEqual(new Set(['-0.00002']))
    await auditPasses(gateway)
  })

  test('gets work again by itself once it is well', async () => {
    for (const { fault, way } of cases) up.on(`${modelOf(fault[0], way[0])}-a`, good)
    healed = Bun.serve({
      port: Number(new URL(closed).port),
      hostname: '127.0.0.1',
      fetch: async (request) => {
        const { stream = false, model } = (await request.json()) as Asked
        return good({ style: 'chat', stream, model } as Asked)
      },
    })
    const isServing = async (model: string) => {
      const { whole, id } = await ask(model)
      expect(whole).toBe(true)
      return (await rowOf(gateway, id)).channel === `${model}-a` ? true : undefined
    }
    await Promise.all(
      cases.map(({ fault, way }) => {
        const model = modelOf(fault[0], way[0])
        return until(`work for ${model}-a`, () => isServing(model))
      }),
    )
  })
})

describe('all channels failing', () => {
  let gateway: TestGateway
  const ask = caller(() => gateway)
  const [a, b] = ['all-a', 'all-b']
  beforeAll(async () => {
    const channels = [up.channel(a, ['m-all']), up.channel(b, ['m-all'])]
    gateway = await startGateway({ config: configOf(['m-all'], channels) })
  })
  afterAll(async () => expect(await gateway.stop()).toBe(0))
  const askedBoth = () => up.asked(a).length + up.asked(b).length

  test('is told as the upstream told it, then as nobody there; and nobody pays', async () => {
    up.on(a, unavailable)
    up.on(b, unavailable)
    const seen = await run(200, 20, (i) => ask('m-all', { stream: i % 2 === 1 }))
    expect(askedBoth()).toBeLessThanOrEqual(240)
    const rows = await allRowsOf(gateway, 'm-all', 200)
    const attempts = rows.reduce((sum, row) => sum + row.attempts.length, 0)
    expect(attempts).toBe(askedBoth())
    const told = Map.groupBy(seen, ({ status, text }) => `${status} ${errorIn(text).code}`)
    expect([...told.keys()].toSorted()).toEqual(['503 no_available_channel', '503 overloaded'])
    for (const { text } of told.get('503 overloaded')!) {
      expect(errorIn(text).message).toContain('no capacity at')
      expect(text).not.toContain(new URL(up.url).host)
    }
    for (const { retryAfter } of told.get('503 no_available_channel')!) {
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1)
      expect(Number(retryAfter)).toBeLessThanOrEqual(30)
    }
    expect(rows.every(({ charge }) => charge === '0.00')).toBe(true)
    expect(await chargesOf(gateway, 'm-all')).toEqual([])
    await auditPasses(gateway)
    expect((await accountOf(gateway)).balance).toBe('100.00')
  })

  test('that are blocked are not asked at all, and their rows say so', async () => {
    // Whether their time is over just now is not known; one call or two may be probes.
    const before = askedBoth()
    const seen = await run(30, 1, () => ask('m-all'))
    expect(askedBoth() - before).toBeLessThanOrEqual(4)
    const refused = seen.findLast(({ status }) => status === 503)!
    const row = await rowOf(gateway, refused.id)
    expect([row.ending, row.error_code, row.attempts, row.channel]).toEqual([
      'refused',
      'no_available_channel',
      [],
      null,
    ])
  })

  test('recover by themselves', async () => {
    up.on(a, good)
    up.on(b, good)
    await until('a served call', async () => ((await ask('m-all')).whole ? true : undefined))
    const seen = await until('both at work', async () => {
      const before = [up.asked(a).length, up.asked(b).length]
      const answers = await run(20, 4, () => ask('m-all'))
      const both = up.asked(a).length > before[0]! && up.asked(b).length > before[1]!
      return both ? answers : undefined
    })
    expect(seen.every(({ whole }) => whole)).toBe(true)
  })
})

describe('a budget for extra attempts that is used up', () => {
  const models = Array.from({ length: 14 }, (_, i) => `m-budget-${i}`)
  let gateway: TestGateway
  const ask = caller(() => gateway)
  beforeAll(async () => {
    const channels = models.flatMap((model) => [
      up.channel(`${model}-a`, [model], { priority: 9 }),
      up.channel(`${model}-b`, [model]),
    ])
    for (const model of models) up.on(`${model}-a`, unavailable)
    gateway = await startGateway({ config: configOf(models, channels) })
  })
  afterAll(async () => expect(await gateway.stop()).toBe(0))

  test('leaves a failed call at its first attempt', async () => {
    // Each first channel fails three times before it is avoided: 42 calls that want another try.
    const seen = await run(42, 1, (i) => ask(models[i % models.length]!))
    const failed = seen.filter(({ status }) => status === 503)
    const extra = seen.length - failed.length
    expect(extra).toBeLessThanOrEqual(20 + 42 * 0.2)
    expect(extra).toBeGreaterThanOrEqual(20)
    expect(seen.slice(0, 20).every(({ whole }) => whole)).toBe(true)
    const row = await rowOf(gateway, failed[0]!.id)
    expect([row.attempts.length, row.charge, row.error_code]).toEqual([1, '0.00', 'overloaded'])
    const charged = await Promise.all(models.map((model) => chargesOf(gateway, model)))
    expect(charged.flat().length).toBe(extra)
    await auditPasses(gateway)
  })
})

describe('single cases', () => {
  const text = [
    'm-late',
    'm-invalid',
    'm-policy',
    'm-left',
    'm-turns',
    'm-refused-key',
    'm-throttled',
    'm-one-key',
    'm-no-key',
    'm-slot',
    'm-slow-slot',
    'm-leaver',
    'm-spill',
    'm-denied',
    'm-missing',
    'm-shared',
    'm-once-good',
    'm-weights',
    'm-well-full',
  ]
  let gateway: TestGateway
  const ask = caller(() => gateway)
  const pair = (model: string, first: object = {}): object[] => [
    up.channel(`${model}-a`, [model], { priority: 9, ...first }),
    up.channel(`${model}-b`, [model]),
  ]
  const single = (model: string, more: object = {}): object =>
    up.channel(`${model}-a`, [model], more)
  const keys = (model: string, ...names: string[]) => ({
    keys: names.map((name) => keyOf(`${model}-${name}`)),
  })
  const countOf = (model: string) => [up.asked(`${model}-a`).length, up.asked(`${model}-b`).length]
  /** What the row of a failed call has to say, and that nobody paid for it. */
  async function unpaid({ id }: Pick<Seen, 'id'>) {
    const row = await rowOf(gateway, id)
    expect([row.charge, row.usage, await chargeOf(gateway, id)]).toEqual(['0.00', null, undefined])
    return row
  }

  beforeAll(async () => {
    const channels = [
      ...['m-late', 'm-invalid', 'm-policy', 'm-left'].flatMap((model) => pair(model)),
      single('m-turns', keys('m-turns', '1', '2', '3')),
      single('m-refused-key', keys('m-refused-key', '1', '2')),
      single('m-throttled', keys('m-throttled', '1', '2')),
      single('m-one-key'),
      single('m-no-key'),
      ...['m-slot', 'm-slow-slot', 'm-leaver'].map((m) => single(m, { max_concurrency: 1 })),
      ...pair('m-spill', { max_concurrency: 1 }),
      ...['m-denied', 'm-missing', 'm-once-good'].map((m) => single(m)),
      ...pair('m-shared'),
      up.channel('m-weights-a', ['m-weights'], { weight: 3 }),
      up.channel('m-weights-b', ['m-weights'], { weight: 1 }),
      up.channel('m-well-full-a', ['m-well-full'], { priority: 9 }),
      up.channel('m-well-full-b', ['m-well-full'], { max_concurrency: 1 }),
    ]
    // Their callers leave calls that are never answered.
    const config = { ...JSON.parse(configOf(text, channels)), left_calls: 'release' }
    gateway = await startGateway({ config: JSON.stringify(config) })
  })
  afterAll(async () => {
    await auditPasses(gateway)
    expect(await gateway.stop()).toBe(0)
  })

  describe('no fail-over', () => {
    test('after the first byte of a stream', async () => {
      up.on('m-late-a', () => streamReply([asEvents([textChunk('begun', 'm-late')])]))
      const seen = await ask('m-late', { stream: true })
      expect([seen.status, countOf('m-late')]).toEqual([200, [1, 0]])
      expect(seen.text).toContain('begun')
      expect(seen.text).toContain('"code":"upstream_error"')
      expect(seen.text).not.toContain('[DONE]')
      const row = await unpaid(seen)
      expect([row.ending, row.error_code]).toEqual(['failed', 'upstream_error'])
      expect(attemptsOf(row)).toMatchObject([
        { channel: 'm-late-a', error: expect.stringContaining('before the answer was complete') },
      ])
    })

    test.each([
      ['m-invalid', 'upstream_invalid_request', { message: 'temperature is too high' }],
      ['m-policy', 'content_policy_violation', { message: 'no', code: 'content_policy_violation' }],
    ])('when the request itself is refused (%s)', async (model, code, error) => {
      up.on(`${model}-a`, () => jsonReply({ error }, { status: 400 }))
      for (let i = 0; i < 25; i++) {
        const seen = await ask(model, { stream: i % 2 === 1 })
        expect([seen.status, errorIn(seen.text).code]).toEqual([400, code])
        if (i === 0) expect((await unpaid(seen)).attempts).toMatchObject([{ status: 400 }])
      }
      // However often: the channel is well, so it is asked every time.
      expect(countOf(model)).toEqual([25, 0])
    })

    test('when the caller has left', async () => {
      up.on('m-left-a', never)
      const leaving = new AbortController()
      const gone = ask('m-left', { signal: leaving.signal }).catch(() => 'gone')
      await until('the call upstream', () => (countOf('m-left')[0] === 1 ? true : undefined))
      leaving.abort()
      expect(await gone).toBe('gone')
      const [row] = await allRowsOf(gateway, 'm-left', 1)
      expect([row!.ending, row!.status, row!.charge]).toEqual(['caller_left', 499, '0.00'])
      expect(attemptsOf(row!)).toMatchObject([{ channel: 'm-left-a', error: 'the caller left' }])
      expect(countOf('m-left')).toEqual([1, 0])
      await nothingHeld(gateway)
    })
  })

  describe('keys', () => {
    const usedKeys = (model: string) =>
      up.asked(`${model}-a`).map(({ key }) => Number(key.split('-').at(-2)))
    const refusing =
      (model: string, status: number, headers: Record<string, string>, ...bad: string[]): Reply =>
      (asked) =>
        bad.some((name) => asked.key === keyOf(`${model}-${name}`))
          ? jsonReply({ error: { message: `key ${asked.key} is no good` } }, { status, headers })
          : good(asked)

    test('are used in turn', async () => {
      for (let i = 0; i < 6; i++) expect((await ask('m-turns')).whole).toBe(true)
      expect(usedKeys('m-turns')).toEqual([1, 2, 3, 1, 2, 3])
    })

    test('that are refused are left alone, and the others do the work', async () => {
      const model = 'm-refused-key'
      up.on(`${model}-a`, refusing(model, 401, {}, '1'))
      const seen = await run(30, 1, (i) => ask(model, { stream: i % 2 === 1 }))
      expect(seen.every(({ whole }) => whole)).toBe(true)
      expect(usedKeys(model)).toEqual([1, ...Array.from({ length: 30 }, () => 2)])
      const row = await rowOf(gateway, seen[0]!.id)
      expect(attemptsOf(row)).toMatchObject([
        { channel: `${model}-a`, key: 1, status: 401 },
        { channel: `${model}-a`, key: 2, status: 200 },
      ])
      expect(JSON.stringify(row)).not.toContain(keyOf(`${model}-1`))
      expect((await chargesOf(gateway, model)).length).toBe(30)
    })

    test('that are throttled are left alone as long as the upstream says', async () => {
      const model = 'm-throttled'
      up.on(`${model}-a`, refusing(model, 429, { 'retry-after': '90' }, '1'))
      const seen = await run(10, 1, () => ask(model))
      expect(seen.every(({ whole }) => whole)).toBe(true)
      expect(usedKeys(model).filter((key) => key === 1)).toEqual([1])
      // Now the other one, too: there is nobody left to ask.
      up.on(`${model}-a`, refusing(model, 429, { 'retry-after': '1000000000' }, '1', '2'))
      const told = await ask(model)
      expect([told.status, errorIn(told.text).code]).toEqual([429, 'upstream_rate_limited'])
      expect(told.retryAfter).toBe('600')
      const row = await unpaid(told)
      expect(attemptsOf(row).map(({ status }) => status)).toEqual([429])
    })

    test('of which there is one only are asked again after a single 429', async () => {
      let throttled = true
      up.on('m-one-key-a', (asked) => {
        if (!throttled) return good(asked)
        throttled = false
        return jsonReply({ error: { message: 'slow down' } }, { status: 429 })
      })
      const told = await ask('m-one-key')
      expect([told.status, errorIn(told.text).code]).toEqual([429, 'upstream_rate_limited'])
      expect((await ask('m-one-key')).whole).toBe(true)
    })

    test('that are all refused, again and again, are not asked any more', async () => {
      up.on('m-no-key-a', () => jsonReply({ error: { message: 'who are you' } }, { status: 401 }))
      const seen = await run(40, 1, () => ask('m-no-key'))
      const told = seen.map(({ status, text: body }) => `${status} ${errorIn(body).code}`)
      expect(new Set(told.slice(0, 20))).toEqual(new Set(['502 upstream_permission_denied']))
      expect(new Set(told.slice(20))).toEqual(new Set(['503 no_available_channel']))
      expect(Number(seen.at(-1)!.retryAfter)).toBeLessThanOrEqual(60)
      expect(up.asked('m-no-key-a').length).toBe(20)
      await unpaid(seen[0]!)
    })
  })

  describe('a channel with one slot', () => {
    test('serves calls that come at once one after the other', async () => {
      let running = 0
      let most = 0
      up.on('m-slot-a', async (asked) => {
        most = Math.max(most, ++running)
        await Bun.sleep(20)
        running--
        return good(asked)
      })
      const seen = await Promise.all(
        Array.from({ length: 5 }, (_, i) => ask('m-slot', { stream: i % 2 === 1 })),
      )
      expect(seen.every(({ whole }) => whole)).toBe(true)
      expect([most, up.asked('m-slot-a').length]).toEqual([1, 5])
      expect((await chargesOf(gateway, 'm-slot')).length).toBe(5)
    })

    test('that stays occupied turns a call away after a while, unpaid', async () => {
      const open = Promise.withResolvers<void>()
      up.on('m-slow-slot-a', async (asked) => {
        await open.promise
        return good(asked)
      })
      const first = ask('m-slow-slot')
      await until('the first call', () => (countOf('m-slow-slot')[0] === 1 ? true : undefined))
      const second = await ask('m-slow-slot')
      expect([second.status, errorIn(second.text).code]).toEqual([503, 'no_available_channel'])
      expect(second.retryAfter).toBe('1')
      const row = await unpaid(second)
      expect([row.ending, row.attempts]).toEqual(['refused', []])
      open.resolve()
      expect((await first).whole).toBe(true)
      expect(countOf('m-slow-slot')[0]).toBe(1)
    })

    test('gives the place of a caller that left to the next', async () => {
      const open = Promise.withResolvers<void>()
      up.on('m-leaver-a', async (asked) => {
        await open.promise
        return good(asked)
      })
      const heldNow = async () => (await accountOf(gateway)).held
      const first = ask('m-leaver')
      await until('the first call', () => (countOf('m-leaver')[0] === 1 ? true : undefined))
      const held = await heldNow()
      const leaving = new AbortController()
      const gone = ask('m-leaver', { signal: leaving.signal }).catch(() => 'gone')
      await until('its hold', async () => ((await heldNow()) === held ? undefined : true))
      leaving.abort()
      expect(await gone).toBe('gone')
      await until('its release', async () => ((await heldNow()) === held ? true : undefined))
      const third = ask('m-leaver')
      await until('another hold', async () => ((await heldNow()) === held ? undefined : true))
      open.resolve()
      expect([(await first).whole, (await third).whole]).toEqual([true, true])
      expect(countOf('m-leaver')[0]).toBe(2)
    })

    test('that is full leaves the rest to a lower priority', async () => {
      const open = Promise.withResolvers<void>()
      up.on('m-spill-a', async (asked) => {
        await open.promise
        return good(asked)
      })
      const first = ask('m-spill')
      await until('the first call', () => (countOf('m-spill')[0] === 1 ? true : undefined))
      const rest = await run(5, 1, () => ask('m-spill'))
      expect(rest.every(({ whole }) => whole)).toBe(true)
      expect(countOf('m-spill')).toEqual([1, 5])
      open.resolve()
      expect((await first).whole).toBe(true)
      await ask('m-spill')
      expect(countOf('m-spill')).toEqual([2, 5])
    })

    test('is waited for rather than one that has just failed', async () => {
      up.on('m-well-full-a', unavailable)
      await run(3, 1, () => ask('m-well-full'))
      expect(countOf('m-well-full')).toEqual([3, 3])
      up.on('m-well-full-b', async (asked) => {
        await Bun.sleep(10)
        return good(asked)
      })
      const seen = await Promise.all(Array.from({ length: 8 }, () => ask('m-well-full')))
      expect(seen.every(({ whole }) => whole)).toBe(true)
    })
  })

  describe('a model the account is not entitled to', () => {
    const denied: Reply = () =>
      jsonReply({ code: 'Model.AccessDenied', message: 'Model access denied.' }, { status: 403 })
    const missing: Reply = ({ model }) =>
      jsonReply(
        { error: { code: 'model_not_found', message: `The model ${model} does not exist.` } },
        { status: 404 },
      )
    async function listed(model: string): Promise<boolean> {
      const answer = await fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${apiToken}` },
      })
      const { data } = (await answer.json()) as { data: { id: string }[] }
      return data.some(({ id }) => id === model)
    }
    const retest = async (channel: string, model: string) =>
      (await gateway.admin('POST', `/channels/${channel}/test`, { model })).body.ok as boolean

    test.each([
      ['m-denied', denied],
      ['m-missing', missing],
    ])('is gone after the first refusal, and back after a good test (%s)', async (model, reply) => {
      const channel = `${model}-a`
      up.on(channel, reply)
      expect(await listed(model)).toBe(true)
      const first = await ask(model)
      expect([first.status, errorIn(first.text).code]).toEqual([502, 'upstream_permission_denied'])
      await unpaid(first)
      expect(await listed(model)).toBe(false)
      const second = await ask(model)
      expect([second.status, errorIn(second.text).code]).toEqual([404, 'model_not_found'])
      expect(up.asked(channel).length).toBe(1)
      expect(await retest(channel, model)).toBe(false)
      expect(await listed(model)).toBe(false)
      up.on(channel, good)
      expect(await retest(channel, model)).toBe(true)
      expect(await listed(model)).toBe(true)
      expect((await ask(model)).whole).toBe(true)
    })

    test('is served by the channel whose account is', async () => {
      up.on('m-shared-a', denied)
      const seen = await run(10, 1, () => ask('m-shared'))
      expect(seen.every(({ whole }) => whole)).toBe(true)
      expect(countOf('m-shared')).toEqual([1, 10])
      const row = await rowOf(gateway, seen[0]!.id)
      expect(attemptsOf(row)).toMatchObject([
        { channel: 'm-shared-a', status: 403 },
        { channel: 'm-shared-b', status: 200 },
      ])
      expect(await listed('m-shared')).toBe(true)
      up.on('m-shared-a', good)
      expect(await retest('m-shared-a', 'm-shared')).toBe(true)
      await ask('m-shared')
      expect(countOf('m-shared')).toEqual([3, 10])
    })

    test('but was before must be refused three times in a row', async () => {
      const model = 'm-once-good'
      const refuse = async (times: number) => {
        up.on(`${model}-a`, denied)
        for (let i = 0; i < times; i++) expect((await ask(model)).status).toBe(502)
        up.on(`${model}-a`, good)
      }
      expect((await ask(model)).whole).toBe(true)
      await refuse(2)
      expect((await ask(model)).whole).toBe(true)
      await refuse(3)
      expect((await ask(model)).status).toBe(404)
    })
  })

  test('weights of three to one share the work like that', async () => {
    const seen = await run(400, 1, () => ask('m-weights'))
    expect(seen.every(({ whole }) => whole)).toBe(true)
    const [a, b] = countOf('m-weights') as [number, number]
    // Six standard deviations to either side.
    expect(a + b).toBe(400)
    expect(Math.abs(a - 300)).toBeLessThan(52)
  })
})

describe('the sandbox', () => {
  let gateway: TestGateway
  const ask = caller(() => gateway)
  beforeAll(async () => {
    const config = configOf(['m-real', 'm-simulated'], [up.channel('real', ['m-real'])])
    gateway = await startGateway({ config, env: { GATEWAY_SANDBOX: 'on' } })
  })
  afterAll(async () => expect(await gateway.stop()).toBe(0))

  test('never takes over from a real channel that fails', async () => {
    expect((await gateway.chat('hello', { model: 'm-simulated' })).status).toBe(200)
    up.on('real', unavailable)
    const seen = await run(30, 1, () => ask('m-real'))
    const statuses = seen.map(({ status }) => status)
    expect(new Set(statuses.slice(0, 20))).toEqual(new Set([503]))
    expect(statuses.slice(20)).toContain(503)
    expect(statuses).not.toContain(200)
    const rows = await allRowsOf(gateway, 'm-real', 30)
    expect(rows.flatMap(attemptsOf).every(({ channel }) => channel === 'real')).toBe(true)
    expect(await chargesOf(gateway, 'm-real')).toEqual([])
  })

  test('never takes over from a real channel that is not entitled', async () => {
    up.on('real', ({ model }) =>
      jsonReply({ code: 'model_not_found', message: `no ${model}` }, { status: 404 }),
    )
    const seen = await until('another verdict', async () => {
      const each = await ask('m-real')
      return each.status === 404 ? each : undefined
    })
    expect(errorIn(seen.text).code).toBe('model_not_found')
    expect(await chargesOf(gateway, 'm-real')).toEqual([])
  })
})
