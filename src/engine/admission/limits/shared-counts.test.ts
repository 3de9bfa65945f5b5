import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TokenLimits } from '../../../contract/catalog.ts'
import { Refusal } from '../../../contract/errors.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import {
  hasRedisServer,
  type RedisServer,
  redisUrl,
  startRedis,
  until,
} from '../../../lib/net/test-redis.ts'
import { createRateLimits, type RateLimits, type RatePass } from './rate-limits.ts'
import { isPass, keptLog, passes, token } from './test-limits.ts'

const opened: RateLimits[] = []

function newGateway(url: string, times: { aliveMs?: number } = {}) {
  const { log, lines } = keptLog()
  const limits = createRateLimits({
    redisUrl: url,
    nowMs: Date.now,
    log,
    instanceId: newId('gw'),
    times: { connectMs: 300, retryMs: 50, beatMs: 50, ...times },
  })
  opened.push(limits)
  return { limits, lines }
}

afterEach(() => {
  for (const limits of opened.splice(0)) limits.close()
})

const newToken = (limits: TokenLimits) => token(newId('tok'), limits)

/** Two gateways that know of each other. */
async function newPair(url: string) {
  const [a, b] = [newGateway(url), newGateway(url)]
  for (const { limits } of [a, b, a, b]) await limits.enter(newToken({ rpm: 1 }), 0)
  return { a: a.limits, b: b.limits, lines: a.lines }
}

const isRefused = async (limits: RateLimits, limited: ReturnType<typeof token>, tokens = 0) => {
  const outcome = await limits.enter(limited, tokens)
  if (isPass(outcome)) outcome.leave(undefined)
  return !isPass(outcome)
}

if (redisUrl === undefined) console.error('left out: shared rate limits (set TEST_REDIS_URL)')
else describe('gateways that share a Redis', () => cluster(redisUrl!))

function cluster(url: string): void {
  test('let in the requests of a minute together, however they are sent', async () => {
    const { a, b } = await newPair(url)
    const limited = newToken({ rpm: 10 })
    const all = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? a : b).enter(limited, 0))
    const outcomes = await Promise.all(all)
    expect(outcomes.filter(isPass)).toHaveLength(10)
    const refusal = await b.enter(limited, 0)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'this token may send 10 requests per minute',
      extras: { rate: { requests: { limit: 10, remaining: 0 } } },
    })
  })

  test('tell what is left of the common limit', async () => {
    const { a, b } = await newPair(url)
    const limited = newToken({ rpm: 10, tpm: 1000 })
    await a.enter(limited, 300)
    expect(await b.enter(limited, 200)).toMatchObject({
      view: { requests: { limit: 10, remaining: 8 }, tokens: { limit: 1000 } },
    })
  })

  test('count tokens as estimated at first, and as used when the call is over', async () => {
    const { a, b } = await newPair(url)
    const limited = newToken({ tpm: 100 })
    const [pass] = await passes(a, limited, 1, 90)
    expect(await isRefused(b, limited, 20)).toBe(true)
    pass?.leave(10)
    await until('b hears of it', async () => (await passes(b, limited, 1, 85)).length === 1)
    expect(await isRefused(a, limited, 20)).toBe(true)
    const more = newToken({ tpm: 100 })
    for (const { leave } of (await passes(a, more, 1, 1)).map(bound)) leave(500)
    await until('b hears of it', () => isRefused(b, more, 1))
  })

  test('let a call above the limit in when nothing else counts', async () => {
    const { a, b } = await newPair(url)
    const limited = newToken({ tpm: 100 })
    expect(await passes(a, limited, 1, 250)).toHaveLength(1)
    expect(await b.enter(limited, 250)).toMatchObject({
      message: expect.stringContaining('alone may need 250'),
    })
  })

  test('run no more calls at once than the limit, however they are sent', async () => {
    const { a, b } = await newPair(url)
    const limited = newToken({ concurrency: 7 })
    for (let turn = 0; turn < 5; turn++) {
      const all = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? a : b).enter(limited, 0))
      const running = (await Promise.all(all)).filter(isPass)
      expect(running).toHaveLength(7)
      expect(await b.enter(limited, 0)).toMatchObject({
        message: 'this token may have 7 calls running at once',
      })
      // One by one, each freed slot is taken exactly once.
      running.pop()?.leave(0)
      await until('a place is free', async () => {
        const [first, second] = await Promise.all([b.enter(limited, 0), a.enter(limited, 0)])
        const got = [first, second].filter(isPass)
        running.push(...got)
        expect(running.length).toBeLessThanOrEqual(7)
        return got.length === 1
      })
      for (const pass of running) pass.leave(0)
      await until('all places are free', () => noneRunning(url, limited.id))
    }
  })

  test('never run more at once than the limit, whatever the order of things', async () => {
    const { a, b } = await newPair(url)
    const anyStep = fc.record({ at: fc.constantFrom(a, b), enter: fc.boolean(), nth: fc.nat() })
    const anyBatch = fc.array(anyStep, { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { maxLength: 8 }), async (batches) => {
        const limited = newToken({ concurrency: 4 })
        const running: RatePass[] = []
        for (const batch of batches) {
          const asked: Promise<void>[] = []
          for (const { at, enter, nth } of batch) {
            if (!enter) running.splice(nth % Math.max(1, running.length), 1)[0]?.leave(0)
            else {
              const outcome = Promise.resolve(at.enter(limited, 0))
              asked.push(outcome.then((got) => void (isPass(got) && running.push(got))))
            }
          }
          await Promise.all(asked)
          expect(running.length).toBeLessThanOrEqual(4)
        }
        for (const pass of running) pass.leave(0)
        await until('all places are free', () => noneRunning(url, limited.id))
      }),
      { numRuns: 60 },
    )
  })

  test('forget the calls of a gateway that died, and keep those of one that lives', async () => {
    const [dying, living, other] = [1, 2, 3].map(() => newGateway(url, { aliveMs: 1000 }).limits)
    const limited = newToken({ concurrency: 2 })
    expect(await passes(dying!, limited, 1)).toHaveLength(1)
    expect(await passes(living!, limited, 1)).toHaveLength(1)
    expect(await isRefused(other!, limited)).toBe(true)
    dying!.close()
    await until('the place is free', async () => (await passes(other!, limited, 1)).length === 1)
    await Bun.sleep(1500)
    expect(await isRefused(other!, limited)).toBe(true)
  })

  test('leave nothing behind that stays, and nothing but their own keys', async () => {
    const { a } = await newPair(url)
    const limited = newToken({ rpm: 5, tpm: 50, concurrency: 3 })
    await passes(a, limited, 1, 5)
    const client = new Bun.RedisClient(url)
    const keys: string[] = await client.send('KEYS', [`*${limited.id}*`])
    expect(keys.sort()).toEqual([
      `gateway:rate:running:${limited.id}`,
      `gateway:rate:window:${limited.id}`,
    ])
    for (const key of [...keys, 'gateway:rate:gateways']) {
      expect(await client.send('PTTL', [key])).toBeGreaterThan(0)
    }
    client.close()
  })
}

const bound = (pass: RatePass) => ({ leave: pass.leave.bind(pass) })

async function noneRunning(url: string, tokenId: string): Promise<boolean> {
  const client = new Bun.RedisClient(url)
  const exists = await client.send('EXISTS', [`gateway:rate:running:${tokenId}`])
  client.close()
  return exists === 0
}

test('a gateway that never reaches its Redis keeps to the limits by itself', async () => {
  const { limits, lines } = newGateway('redis://127.0.0.1:1')
  const limited = newToken({ rpm: 4, concurrency: 3 })
  const got = await passes(limits, limited, 10)
  expect(got).toHaveLength(3)
  for (const pass of got) pass.leave(0)
  expect(await passes(limits, limited, 10)).toHaveLength(1)
  await Bun.sleep(200)
  // Known to be unavailable: nothing to wait for.
  expect(limits.enter(limited, 0)).toBeInstanceOf(Refusal)
  expect(lines.map(({ level }) => level)).toEqual(['warn'])
})

if (!hasRedisServer) console.error('left out: rate limits in an outage (install redis-server)')
else describe('while Redis', outages)

function outages(): void {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())
  // The gateways of an earlier case would count as alive.
  beforeEach(() => {
    server.signal('SIGCONT')
    return server.ask('FLUSHALL')
  })

  test('is stopped, each gateway keeps to its share; then they share again', async () => {
    const { a, b, lines } = await newPair(server.url)
    const limited = newToken({ rpm: 9, tpm: 900, concurrency: 9 })
    server.signal('SIGSTOP')
    const before = await Promise.all([passes(a, limited, 12), passes(b, limited, 12)])
    expect(before.map((got) => got.length)).toEqual([5, 5])
    const tokens = newToken({ tpm: 100 })
    expect(await passes(a, tokens, 9, 20)).toHaveLength(2)
    server.signal('SIGCONT')
    await until('it is back', () => lines.length === 2)
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info'])
    await until('both are back', async () => isPromise(b.enter(newToken({ rpm: 1 }), 0)))
    const later = newToken({ rpm: 9, concurrency: 4 })
    const all = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? a : b).enter(later, 0))
    expect((await Promise.all(all)).filter(isPass)).toHaveLength(4)
  })

  test('is stopped, a gateway that died before has no share', async () => {
    const [a, b] = [1, 2].map(() => newGateway(server.url, { aliveMs: 500 }).limits)
    for (const limits of [a!, b!]) await passes(limits, newToken({ rpm: 1 }), 1)
    b!.close()
    await Bun.sleep(1000)
    server.signal('SIGSTOP')
    expect(await passes(a!, newToken({ rpm: 8 }), 10)).toHaveLength(8)
  })

  test('is stopped, what it let in before counts on', async () => {
    const { a } = await newPair(server.url)
    const limited = newToken({ rpm: 10 })
    expect(await passes(a, limited, 4)).toHaveLength(4)
    server.signal('SIGSTOP')
    expect(await passes(a, limited, 10)).toHaveLength(1)
    server.signal('SIGCONT')
  })

  test('is away, calls that began before end, and those that began then are told after', async () => {
    const { a, b, lines } = await newPair(server.url)
    const limited = newToken({ concurrency: 4 })
    const [first] = await passes(a, limited, 1)
    await server.kill()
    await until('the loss is noticed', () => lines.length === 1)
    expect(await passes(a, limited, 5)).toHaveLength(1)
    first?.leave(0)
    await server.start()
    await until('it is back', () => lines.length === 2)
    await until('b is back', async () => isPromise(b.enter(newToken({ rpm: 1 }), 0)))
    // a runs one call that Redis did not know of: three slots are left.
    expect(await passes(b, limited, 9)).toHaveLength(3)
  })

  test('forgets everything, no gateway lets in more than the limit by itself', async () => {
    const { a, b } = await newPair(server.url)
    const limited = newToken({ rpm: 6, tpm: 600 })
    const busy = newToken({ concurrency: 5 })
    expect(await passes(a, limited, 6, 10)).toHaveLength(6)
    const running = await passes(a, busy, 5)
    for (let turn = 0; turn < 3; turn++) {
      await server.ask('FLUSHALL')
      expect(await passes(a, limited, 6, 10)).toHaveLength(0)
      expect(await passes(a, busy, 1)).toHaveLength(0)
    }
    await until('a has repeated what it runs', () => isRefused(b, busy))
    for (const pass of running) pass.leave(0)
    await until('all places are free', async () => (await passes(b, busy, 1)).length === 1)
  })

  test('forgets everything, each gateway brings back what it has let in', async () => {
    const { a, b } = await newPair(server.url)
    const limited = newToken({ rpm: 20 })
    const first = [await passes(a, limited, 10), await passes(b, limited, 10)]
    expect(first.flat()).toHaveLength(20)
    for (let turn = 0; turn < 3; turn++) {
      await server.ask('FLUSHALL')
      // Until b has reported what it admitted, a may take one more.
      const again = [await passes(a, limited, 1), await passes(b, limited, 1)]
      expect(again.flat().length).toBeLessThanOrEqual(1)
      expect(await passes(a, limited, 20)).toHaveLength(0)
      expect(await passes(b, limited, 20)).toHaveLength(0)
    }
  })

  test('forgets everything, a correction gives back no more than was counted since', async () => {
    const { a, b } = await newPair(server.url)
    const limited = newToken({ tpm: 100 })
    const [pass] = await passes(a, limited, 1, 100)
    await server.ask('FLUSHALL')
    expect(await passes(b, limited, 1, 30)).toHaveLength(1)
    pass?.leave(undefined)
    await passes(a, newToken({ rpm: 1 }), 1)
    expect(await passes(b, limited, 9, 100)).toHaveLength(0)
    expect(await passes(b, limited, 9, 35)).toHaveLength(2)
    const others = [newGateway(server.url).limits, newGateway(server.url).limits]
    const got = [await passes(others[0]!, limited, 2, 10), await passes(others[1]!, limited, 5, 10)]
    expect(got.map((some) => some.length)).toEqual([2, 1])
  })

  test('is away, tokens it has not counted are not given back to it', async () => {
    const { a, b, lines } = await newPair(server.url)
    const limited = newToken({ tpm: 100 })
    server.signal('SIGSTOP')
    const [early] = await passes(a, newToken({ rpm: 1 }), 1)
    const [pass] = await passes(a, limited, 1, 50)
    server.signal('SIGCONT')
    await until('it is back', () => lines.length === 2)
    expect(await passes(b, limited, 1, 60)).toHaveLength(1)
    early?.leave(undefined)
    pass?.leave(undefined)
    await passes(a, newToken({ rpm: 1 }), 1)
    expect(await isRefused(a, limited, 41)).toBe(true)
    expect(await passes(a, limited, 1, 40)).toHaveLength(1)
  })

  test('will not write, limits hold and nothing is thrown', async () => {
    const { a, lines } = await newPair(server.url)
    await server.ask('CONFIG', 'SET', 'maxmemory', '1')
    expect(await passes(a, newToken({ rpm: 8 }), 20)).toHaveLength(4)
    await server.ask('CONFIG', 'SET', 'maxmemory', '0')
    await until('it is back', () => lines.length === 2)
  })
}

const isPromise = (outcome: unknown) => outcome instanceof Promise
