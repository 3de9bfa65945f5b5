import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { newScript, openRedis, type Redis, type RedisOptions, redisAway } from './redis.ts'
import { hasRedisServer, type RedisServer, startRedis, until } from './test-redis.ts'

const addScript = newScript(`return redis.call('INCR', KEYS[1]) + tonumber(ARGV[1])`)
const opened: Redis[] = []
const started: RedisServer[] = []

async function startAnother(...settings: string[]): Promise<RedisServer> {
  const server = await startRedis(...settings)
  started.push(server)
  return server
}

function open(url: string, more: Partial<RedisOptions> = {}) {
  const reply: string[] = []
  const redis = openRedis({
    url,
    times: { commandMs: 100, connectMs: 300, retryMs: 50 },
    greet: async (run) => (await run(addScript, ['greeted'], [0])) !== redisAway,
    onLost: (reason) => reply.push(`lost: ${reason}`),
    onBack: () => reply.push('back'),
    ...more,
  })
  opened.push(redis)
  return { redis, reply }
}

afterEach(async () => {
  for (const redis of opened.splice(0)) redis.close()
  for (const server of started.splice(0)) await server.remove()
})

const add = (redis: Redis) => redis.run(addScript, ['sum'], [10])

test('a server that is not there is away, which is said once', async () => {
  const { redis, reply } = open('redis://127.0.0.1:1')
  expect(await add(redis)).toBe(redisAway)
  expect(redis.ready).toBe(false)
  await Bun.sleep(200)
  expect(await add(redis)).toBe(redisAway)
  expect(reply).toEqual([expect.stringContaining('lost: ')])
})

test('an address that is none is a server that is away, and is not repeated', async () => {
  const { redis, reply } = open('redis://:hunter2@[nowhere')
  expect(await add(redis)).toBe(redisAway)
  expect(reply).toHaveLength(1)
  expect(reply.join()).not.toContain('hunter2')
})

test('something that is no Redis is away', async () => {
  const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('no') })
  const first = open(`redis://127.0.0.1:${mute.port}`)
  const second = open(`redis://127.0.0.1:${other.port}`)
  expect(await add(first.redis)).toBe(redisAway)
  expect(await add(second.redis)).toBe(redisAway)
  await until('both are given up', () => !first.redis.ready && !second.redis.ready)
  mute.stop(true)
  await other.stop(true)
})

if (!hasRedisServer) console.error('left out: a Redis that comes and goes (install redis-server)')

if (hasRedisServer) describe('a server', aServer)

function aServer(): void {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())

  test('is asked from the first moment on, and learns scripts it does not know', async () => {
    const { redis, reply } = open(server.url)
    expect(redis.ready).toBe(true)
    expect(await Promise.all([add(redis), add(redis)])).toEqual([11, 12])
    await server.ask('SCRIPT', 'FLUSH')
    expect(await add(redis)).toBe(13)
    expect(reply).toEqual([])
  })

  test('that stops is away in time, and is back when it goes on', async () => {
    const { redis, reply } = open(server.url)
    await add(redis)
    server.signal('SIGSTOP')
    const replies = await Promise.all([add(redis), add(redis), add(redis)])
    expect(replies).toEqual([redisAway, redisAway, redisAway])
    expect(redis.ready).toBe(false)
    await Bun.sleep(500)
    server.signal('SIGCONT')
    await until('it is ready again', () => redis.ready)
    expect(await add(redis)).toBeGreaterThan(10)
    expect(reply).toEqual(['lost: no answer in time', 'back'])
  })

  test('that dies is away, and is back when it was started again', async () => {
    const { redis, reply } = open(server.url)
    await add(redis)
    await server.kill()
    await until('the loss is noticed', () => !redis.ready)
    expect(await add(redis)).toBe(redisAway)
    await server.start()
    await until('it is ready again', () => redis.ready)
    expect(await add(redis)).toBe(11)
    expect(reply).toEqual([expect.stringContaining('lost: '), 'back'])
  })

  test('that will not write is away until it will', async () => {
    const { redis, reply } = open(server.url)
    await add(redis)
    await server.ask('REPLICAOF', '127.0.0.1', '1')
    expect(await add(redis)).toBe(redisAway)
    await Bun.sleep(200)
    expect(redis.ready).toBe(false)
    await server.ask('REPLICAOF', 'NO', 'ONE')
    await until('it is ready again', () => redis.ready)
    await server.ask('CONFIG', 'SET', 'maxmemory', '1')
    expect(await add(redis)).toBe(redisAway)
    await server.ask('CONFIG', 'SET', 'maxmemory', '0')
    await until('it is ready again', () => redis.ready)
    expect(reply.filter((line) => line === 'back')).toHaveLength(2)
    expect(reply).toHaveLength(4)
  })

  test('that wants another password is away', async () => {
    const locked = await startAnother('--requirepass', 'right')
    const wrong = open(locked.url.replace('//', '//:hunter2@'))
    expect(await add(wrong.redis)).toBe(redisAway)
    await until('it is given up', () => !wrong.redis.ready)
    expect(wrong.reply).toHaveLength(1)
    expect(wrong.reply.join()).not.toContain('hunter2')
    const right = open(locked.url.replace('//', '//:right@'))
    expect(await add(right.redis)).toBe(11)
  })

  test('keeps no process alive, be it there, stopped or absent', async () => {
    const silent = await startAnother()
    silent.signal('SIGSTOP')
    for (const url of [server.url, silent.url, 'redis://127.0.0.1:1']) {
      const program = `
        import { newScript, openRedis } from '${resolve(import.meta.dir, 'redis.ts')}'
        const script = newScript('return 1')
        const redis = openRedis({
          url: '${url}',
          times: { commandMs: 100, connectMs: 300, retryMs: 50 },
          greet: async (run) => (await run(script, [], [])) === 1,
          onLost() {},
          onBack() {},
        })
        await redis.run(script, [], [])
        console.log('done')`
      const child = Bun.spawn([process.execPath, '-e', program], { timeout: 8000, stdout: 'pipe' })
      expect(await new Response(child.stdout).text()).toBe('done\n')
      expect([await child.exited, child.signalCode]).toEqual([0, null])
    }
  })

  test('is left alone after close', async () => {
    const { redis, reply } = open(server.url)
    await add(redis)
    redis.close()
    redis.close()
    expect(await add(redis)).toBe(redisAway)
    await Bun.sleep(150)
    expect([redis.ready, reply]).toEqual([false, []])
  })
}
