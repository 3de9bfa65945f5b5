// Rate limits of tokens over real HTTP: what is let in, what the headers say, and that no limit
// disappears, whatever becomes of Redis.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { hasRedisServer, type RedisServer, startRedis } from '../../src/lib/net/test-redis.ts'
import {
  good,
  isWhole,
  pathOf,
  type Reply,
  requestOf,
  type Style,
  startUpstreams,
  styles,
  type Upstreams,
} from '../support/channels.ts'
import { startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import {
  accountOf,
  chargeOf,
  errorIn,
  listAll,
  type RequestRow,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'
import { completion, jsonReply } from '../support/upstream.ts'

let up: Upstreams
let gateway: TestGateway

const price = { unit: 'token', per_million: { input: '1.00', output: '2.00' } }
const configAt = (url: Upstreams) =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '100.00' }],
    models: [
      { name: 'm-text', kind: 'text', interfaces: ['chat', 'responses', 'messages'] },
      { name: 'm-embed', kind: 'embedding', interfaces: ['embeddings'] },
    ],
    prices: ['m-text', 'm-embed'].map((model) => ({ model, ...price })),
    channels: [url.channel('own', ['m-text', 'm-embed'], { max_concurrency: 100 })],
  })

beforeAll(async () => {
  up = startUpstreams()
  gateway = await startGateway({ config: configAt(up) })
  await awayFromTheBorder()
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect([body.ok, (await accountOf(gateway)).held]).toEqual([true, '0.00'])
  expect(await gateway.stop()).toBe(0)
  await up.stop()
})

const windowMs = 60_000
const marginMs = 6_000

/** Counts fade from one minute to the next; exact numbers are read within one. */
async function awayFromTheBorder(): Promise<void> {
  const leftMs = windowMs - (Date.now() % windowMs)
  if (leftMs < marginMs) await Bun.sleep(leftMs)
}

interface Limits {
  rpm?: number | null
  tpm?: number | null
  concurrency?: number | null
}
interface Limited {
  id: string
  secret: string
}

let made = 0
async function newToken(limits: Limits, on = gateway): Promise<Limited> {
  const fields = { account: 'acme', name: `token-${++made}`, limits }
  const { status, body } = await on.admin('POST', '/tokens', fields)
  expect(status).toBe(201)
  return { id: body.id as string, secret: body.token as string }
}

const change = async ({ id }: Limited, limits: Limits) =>
  expect((await gateway.admin('PATCH', `/tokens/${id}`, { limits })).status).toBe(200)

interface Seen {
  status: number
  text: string
  whole: boolean
  headers: Headers
  id: string
}

interface Asking {
  style?: Style
  stream?: boolean
  extra?: object
  path?: string
  on?: TestGateway
  signal?: AbortSignal
}

async function ask({ secret }: Limited, asking: Asking = {}): Promise<Seen> {
  const { style = 'chat', stream = false, extra = {}, path = pathOf[style], signal } = asking
  const model = style === 'embeddings' ? 'm-embed' : 'm-text'
  const answer = await fetch(`${(asking.on ?? gateway).url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...requestOf(style, model, stream), ...extra }),
    ...(signal !== undefined && { signal }),
  })
  const text = await answer.text()
  const whole = answer.status === 200 && isWhole(style, stream, text)
  return { status: answer.status, text, whole, headers: answer.headers, id: requestIdOf(answer) }
}

/** limit, remaining, and until all is forgotten; undefined when the headers are not there. */
function gaugeIn({ headers }: Pick<Seen, 'headers'>, what: 'requests' | 'tokens') {
  const read = (name: string) => headers.get(`x-ratelimit-${name}-${what}`)
  const reset = /^(\d+(?:\.\d+)?)s$/.exec(read('reset') ?? '')
  if (read('limit') === null) return undefined
  return {
    limit: Number(read('limit')),
    remaining: Number(read('remaining')),
    resetSeconds: Number(reset?.[1]),
  }
}

/** Turned away by a limit: told when to come back, not sent upstream, not paid for. */
async function expectLimited(seen: Seen): Promise<string> {
  expect([seen.status, errorIn(seen.text).code]).toEqual([429, 'rate_limit_exceeded'])
  expect(errorIn(seen.text).type).toBe('rate_limit_error')
  const retryAfter = Number(seen.headers.get('retry-after'))
  expect(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60).toBe(true)
  const row = await rowOf(gateway, seen.id)
  expect([row.ending, row.error_code, row.charge, row.attempts]).toEqual([
    'refused',
    'rate_limit_exceeded',
    '0.00',
    [],
  ])
  expect(await chargeOf(gateway, seen.id)).toBeUndefined()
  return errorIn(seen.text).message.replace(` (${seen.id})`, '')
}

const upstreamCalls = () => up.asked('own').length

describe('requests per minute', () => {
  test('are counted down in the headers of every style, JSON and stream', async () => {
    const asked = styles.flatMap((style): Asking[] =>
      style === 'embeddings' ? [{ style }] : [{ style }, { style, stream: true }],
    )
    const token = await newToken({ rpm: asked.length })
    for (const [i, each] of asked.entries()) {
      const seen = await ask(token, each)
      expect([each, seen.whole]).toEqual([each, true])
      const gauge = gaugeIn(seen, 'requests')!
      expect([gauge.limit, gauge.remaining]).toEqual([asked.length, asked.length - 1 - i])
      expect(gauge.resetSeconds).toBeGreaterThan(0)
      expect(gauge.resetSeconds).toBeLessThanOrEqual(120)
      expect(gaugeIn(seen, 'tokens')).toBeUndefined()
    }
    const before = upstreamCalls()
    for (const each of asked) {
      const seen = await ask(token, each)
      expect(gaugeIn(seen, 'requests')).toMatchObject({ limit: asked.length, remaining: 0 })
      expect(seen.headers.get('content-type')).toContain('application/json')
      if (each.style === 'messages') {
        expect([seen.status, JSON.parse(seen.text).type]).toEqual([429, 'error'])
        continue
      }
      const message = await expectLimited(seen)
      expect(message).toBe(`this token may send ${asked.length} requests per minute`)
    }
    expect(upstreamCalls()).toBe(before)
  })

  test('are not used up by calls that were turned away', async () => {
    const token = await newToken({ rpm: 2 })
    for (let i = 0; i < 12; i++) await ask(token)
    await change(token, { rpm: 3 })
    const seen = await ask(token)
    expect([seen.whole, gaugeIn(seen, 'requests')?.remaining]).toEqual([true, 0])
    await expectLimited(await ask(token))
  })

  test('let in exactly so many of a crowd', async () => {
    const token = await newToken({ rpm: 7 })
    const before = upstreamCalls()
    const crowd = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask(token, { stream: i % 2 === 1 })),
    )
    const served = crowd.filter(({ whole }) => whole)
    expect([served.length, upstreamCalls() - before]).toEqual([7, 7])
    const left = served.map((seen) => gaugeIn(seen, 'requests')!.remaining)
    expect(left.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(crowd.filter(({ status }) => status === 429).length).toBe(53)
  })

  test('are each token’s own', async () => {
    const [one, other] = [await newToken({ rpm: 1 }), await newToken({ rpm: 1 })]
    expect((await ask(one)).whole).toBe(true)
    await expectLimited(await ask(one))
    expect((await ask(other)).whole).toBe(true)
  })

  test('count what the upstream fails, as it was asked', async () => {
    const token = await newToken({ rpm: 2 })
    up.on('own', () => jsonReply({ error: { message: 'no' } }, { status: 400 }))
    expect((await ask(token)).status).toBe(400)
    up.on('own', good)
    expect(gaugeIn(await ask(token), 'requests')?.remaining).toBe(0)
    await expectLimited(await ask(token))
  })

  test('count the question how large an input is', async () => {
    const token = await newToken({ rpm: 2 })
    const counting: Asking = { style: 'messages', path: '/v1/messages/count_tokens' }
    const first = await ask(token, counting)
    expect([first.status, gaugeIn(first, 'requests')?.remaining]).toEqual([200, 1])
    expect(await chargeOf(gateway, first.id)).toBeUndefined()
    expect(gaugeIn(await ask(token), 'requests')?.remaining).toBe(0)
    const third = await ask(token, counting)
    expect([third.status, gaugeIn(third, 'requests')?.remaining]).toEqual([429, 0])
    await expectLimited(await ask(token))
  })
})

describe('limits that change', () => {
  test('hold from the next call on, in both directions', async () => {
    const token = await newToken({})
    const free = await ask(token)
    expect([free.whole, gaugeIn(free, 'requests')]).toEqual([true, undefined])
    await change(token, { rpm: 2 })
    expect(gaugeIn(await ask(token), 'requests')).toMatchObject({ limit: 2 })
    await ask(token)
    await expectLimited(await ask(token))
    await change(token, { rpm: 100 })
    expect(gaugeIn(await ask(token), 'requests')).toMatchObject({ limit: 100 })
    await change(token, { rpm: 1 })
    await expectLimited(await ask(token))
    await change(token, { rpm: null })
    const again = await ask(token)
    expect([again.whole, gaugeIn(again, 'requests')]).toEqual([true, undefined])
  })
})

describe('tokens per minute', () => {
  const limit = 1_000
  const bound = { extra: { max_tokens: 600 } }

  test('are counted by what a call may use, then by what it used', async () => {
    const token = await newToken({ tpm: limit })
    const first = await ask(token, bound)
    const estimate = limit - gaugeIn(first, 'tokens')!.remaining
    expect(estimate).toBeGreaterThan(600)
    expect(estimate).toBeLessThan(650)
    expect([first.whole, gaugeIn(first, 'requests')]).toEqual([true, undefined])
    // The upstream reported 15: a second call of that size fits, and so do many more.
    for (let i = 1; i <= 20; i++) {
      const seen = await ask(token, { ...bound, stream: i % 2 === 1 })
      expect([seen.whole, gaugeIn(seen, 'tokens')?.remaining]).toEqual([
        true,
        limit - i * 15 - estimate,
      ])
    }
  })

  test('are taken while a call runs, and given back when it failed', async () => {
    const token = await newToken({ tpm: limit })
    const open = Promise.withResolvers<void>()
    up.on('own', async () => {
      await open.promise
      return jsonReply({ error: { message: 'no' } }, { status: 400 })
    })
    const before = upstreamCalls()
    const running = ask(token, bound)
    await until('the call upstream', () => (upstreamCalls() > before ? true : undefined))
    const refused = await ask(token, bound)
    expect(await expectLimited(refused)).toBe(`this token may use ${limit} tokens per minute`)
    expect(gaugeIn(refused, 'tokens')!.remaining).toBeLessThan(400)
    open.resolve()
    expect((await running).status).toBe(400)
    up.on('own', good)
    expect((await ask(token, bound)).whole).toBe(true)
  })

  test('are counted by what was used, even where that is far more than was asked for', async () => {
    const token = await newToken({ tpm: limit })
    const greedy: Reply = ({ model }) =>
      jsonReply(completion({ prompt_tokens: 1_500, completion_tokens: 1 }, model))
    up.on('own', greedy)
    expect((await ask(token, { extra: { max_tokens: 1 } })).whole).toBe(true)
    up.on('own', good)
    const refused = await ask(token, { extra: { max_tokens: 1 } })
    await expectLimited(refused)
    expect(gaugeIn(refused, 'tokens')).toMatchObject({ limit, remaining: 0 })
  })

  test('let a call through that is too large for them when nothing else counts', async () => {
    const token = await newToken({ tpm: limit })
    const large = { extra: { max_tokens: 5_000 } }
    const seen = await ask(token, large)
    expect([seen.whole, gaugeIn(seen, 'tokens')?.remaining]).toEqual([true, 0])
    const message = await expectLimited(await ask(token, large))
    expect(message).toContain('this call alone may need 50')
    expect((await ask(token, { extra: { max_tokens: 5 } })).whole).toBe(true)
  })

  test('stand beside requests per minute in the headers', async () => {
    const token = await newToken({ rpm: 1, tpm: limit })
    const seen = await ask(token)
    expect(gaugeIn(seen, 'requests')).toMatchObject({ limit: 1, remaining: 0 })
    expect(gaugeIn(seen, 'tokens')).toMatchObject({ limit })
    const refused = await ask(token)
    await expectLimited(refused)
    expect(gaugeIn(refused, 'requests')).toMatchObject({ limit: 1, remaining: 0 })
    expect(gaugeIn(refused, 'tokens')).toMatchObject({ limit, remaining: limit - 15 })
  })
})

describe('calls at once', () => {
  /** Calls that the upstream keeps until they are let go. */
  async function occupy(token: Limited, calls: readonly Asking[]) {
    const open = Promise.withResolvers<void>()
    const before = upstreamCalls()
    up.on('own', async (asked) => {
      await open.promise
      return good(asked)
    })
    const running = calls.map((each) => ask(token, each))
    await until('all upstream', () =>
      upstreamCalls() - before === calls.length ? true : undefined,
    )
    return async () => {
      up.on('own', good)
      open.resolve()
      return Promise.all(running)
    }
  }

  test('are as many as the token may have', async () => {
    const token = await newToken({ concurrency: 2 })
    const letGo = await occupy(token, [{}, { stream: true }])
    const refused = await ask(token)
    const message = await expectLimited(refused)
    expect(message).toBe('this token may have 2 calls running at once')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(gaugeIn(refused, 'requests')).toBeUndefined()
    expect((await letGo()).every(({ whole }) => whole)).toBe(true)
    for (let i = 0; i < 10; i++) {
      expect((await ask(token, { stream: i % 2 === 1 })).whole).toBe(true)
    }
  })

  test('end with a caller that leaves', async () => {
    const token = await newToken({ concurrency: 1 })
    const leaving = new AbortController()
    const before = upstreamCalls()
    up.on('own', () => new Promise<Response>(() => {}))
    // A JSON call would be read on for a while.
    const gone = ask(token, { signal: leaving.signal, stream: true }).catch(() => 'gone')
    await until('the call upstream', () => (upstreamCalls() > before ? true : undefined))
    await expectLimited(await ask(token))
    leaving.abort()
    await gone
    up.on('own', good)
    await until('a free place', async () => ((await ask(token)).whole ? true : undefined))
  })

  test('are free again after failures', async () => {
    const token = await newToken({ concurrency: 1 })
    up.on('own', () => jsonReply({ error: { message: 'no' } }, { status: 400 }))
    for (let i = 0; i < 5; i++) expect((await ask(token)).status).toBe(400)
    up.on('own', good)
    expect((await ask(token)).whole).toBe(true)
  })

  test('change with the limit while calls run', async () => {
    const token = await newToken({ concurrency: 1 })
    const letGo = await occupy(token, [{}])
    await expectLimited(await ask(token))
    await change(token, { concurrency: 2 })
    up.on('own', good)
    expect((await ask(token)).whole).toBe(true)
    expect((await letGo()).every(({ whole }) => whole)).toBe(true)
  })
})

test('calls that were let in are all that was paid for', async () => {
  const token = await newToken({ rpm: 5 })
  for (let i = 0; i < 9; i++) await ask(token)
  const rows = await until('all rows', async () => {
    const found = await listAll<RequestRow>(gateway, `/requests?token=${token.id}`)
    return found.length === 9 ? found : undefined
  })
  const charges = rows.map(({ status, charge }) => `${status} ${charge}`)
  expect(charges.filter((each) => each === '200 0.00002').length).toBe(5)
  expect(charges.filter((each) => each === '429 0.00').length).toBe(4)
})

if (!hasRedisServer) console.error('left out: limits of two gateways (install redis-server)')
else describe('two gateways with one Redis', twoGateways)

function twoGateways(): void {
  // Counts are shared by the id of the token, and every database makes ids of its own. So the
  // second gateway starts from a copy of what the first one knew.
  let redis: RedisServer
  let both: [TestGateway, TestGateway]
  let tokens: Limited[]

  beforeAll(async () => {
    redis = await startRedis()
    const first = await startGateway({ config: configAt(up) })
    tokens = []
    for (const limits of [{ rpm: 10 }, { concurrency: 3 }, { rpm: 10 }, { rpm: 10 }, { rpm: 2 }]) {
      tokens.push(await newToken(limits, first))
    }
    await first.stop()
    const dataDir = tempDir()
    cpSync(first.dataDir, dataDir, { recursive: true })
    const env = { GATEWAY_REDIS_URL: redis.url }
    const start = (dir: string) => startGateway({ config: configAt(up), dataDir: dir, env })
    both = [await start(first.dataDir), await start(dataDir)]
    // A gateway counts the others when it hears from Redis.
    for (const on of both) await ask(tokens[4]!, { on })
    await awayFromTheBorder()
  })
  afterAll(async () => {
    for (const each of both) expect(await each.stop()).toBe(0)
    await redis.remove()
  })

  /** How many of so many calls, half of them at each gateway, are let in. */
  async function letIn(token: Limited, calls: number): Promise<number> {
    const seen = await Promise.all(
      Array.from({ length: calls }, (_, i) => ask(token, { on: both[i % 2]! })),
    )
    expect(seen.every(({ whole, status }) => whole || status === 429)).toBe(true)
    return seen.filter(({ whole }) => whole).length
  }

  test('let in together what one token may send', async () => {
    const [token] = tokens as [Limited]
    const first = await ask(token, { on: both[0] })
    const second = await ask(token, { on: both[1] })
    const left = [first, second].map((seen) => gaugeIn(seen, 'requests'))
    expect(left).toMatchObject([
      { limit: 10, remaining: 9 },
      { limit: 10, remaining: 8 },
    ])
    expect(await letIn(token, 40)).toBe(8)
    for (const on of both) {
      const refused = await ask(token, { on })
      expect([refused.status, gaugeIn(refused, 'requests')?.remaining]).toEqual([429, 0])
    }
  })

  test('let run together what one token may have at once', async () => {
    const token = tokens[1]!
    const open = Promise.withResolvers<void>()
    const before = upstreamCalls()
    up.on('own', async (asked) => {
      await open.promise
      return good(asked)
    })
    const calls = Array.from({ length: 12 }, (_, i) => ask(token, { on: both[i % 2]! }))
    const ended: number[] = []
    for (const call of calls) void call.then(({ status }) => ended.push(status))
    await until('all but three turned away', () => (ended.length === 9 ? true : undefined))
    expect([new Set(ended), upstreamCalls() - before]).toEqual([new Set([429]), 3])
    up.on('own', good)
    open.resolve()
    expect((await Promise.all(calls)).filter(({ whole }) => whole).length).toBe(3)
    expect((await ask(token, { on: both[1] })).whole).toBe(true)
  })

  test('keep to their shares while it is away, and are never unlimited', async () => {
    expect(await letIn(tokens[2]!, 4)).toBe(4)
    await redis.kill()
    // Of ten, four are used; each gateway has let in two of its five.
    expect(await letIn(tokens[2]!, 40)).toBe(6)
    expect(await letIn(tokens[2]!, 40)).toBe(0)
    // Nothing used before: five for each.
    expect(await letIn(tokens[3]!, 40)).toBe(10)
    expect(await letIn(tokens[3]!, 10)).toBe(0)
    for (const each of both) {
      await until('a word in the log', () =>
        each.output().includes('Redis unavailable') ? true : undefined,
      )
    }
  })

  test('do not begin anew when it comes back empty', async () => {
    await redis.start()
    for (const each of both) {
      await until('Redis is back', () =>
        each.output().includes('Redis available') ? true : undefined,
      )
    }
    // Each remembers its own five; together that is at most once more what Redis has forgotten.
    expect(await letIn(tokens[3]!, 40)).toBeLessThanOrEqual(10)
    expect(await letIn(tokens[3]!, 40)).toBe(0)
  })
}
