// Clocks that are wrong or are set while gateways run, and gateways that die while they create: the
// work of everybody ends as it would have with right clocks, and nothing is sent twice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, onServer, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type WallClock, wallClock } from '../support/process/wall-clock.ts'
import { accountOf, errorOf, until } from '../support/read.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { isOver, readTasks } from '../support/task-books.ts'
import { startUpstream } from '../support/upstream.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const waitMs = 90_000

const configFor = ({ protocols }: Sandbox) => `
accounts: [{ name: acme, balance: "500.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: [upk-clocks-0123456789abcdef]
    protocols: ${JSON.stringify(protocols)}
    models: { "*": "*", imga-plus: imga-t2i }
    max_concurrency: 1000
`
const env = {
  GATEWAY_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
  GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
}

const video = (prompt: string) => ({ model: 'vfa-2.7-t2v', prompt, seconds: 5, resolution: '720p' })
const native = '/arkvendor/api/v3/contents/generations/tasks'
const nativeTask = (text: string) => ({
  model: 'vidmodel-1-0-pro',
  content: [{ type: 'text', text }],
  duration: 5,
})
const picture = (prompt: string) => ({ model: 'imga-plus', prompt, n: 1, size: '1024x1024' })

async function settled(gateway: TestGateway): Promise<void> {
  const left = async () => (await readTasks(gateway)).filter((row) => !isOver(row))
  await until(
    'the end of all tasks',
    async () => ((await left()).length === 0 ? true : undefined),
    waitMs,
  )
  await until(
    'the end of all holds',
    async () => ((await accountOf(gateway)).held === '0.00' ? true : undefined),
    waitMs,
  )
}

const databaseOf = ({ options }: Place): string => new URL(options.databaseUrl!).pathname.slice(1)

const readyz = async ({ url }: TestGateway) => {
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, said: ((await response.json()) as { status: string }).status }
}

if (!storeKinds.includes('postgres')) {
  console.error('left out: clocks of several gateways (set TEST_POSTGRES_URL)')
} else {
  describe('a gateway whose clock is wrong, beside one whose clock is right', () => {
    let place: Place
    let sandbox: Sandbox
    let right: TestGateway
    let wrong: TestGateway
    let clock: WallClock

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ taskSeconds: 2 })
      const both = { ...env, GATEWAY_DATABASE_URL: place.options.databaseUrl! }
      const config = configFor(sandbox)
      clock = wallClock(25 * hourMs)
      right = await startGateway({ config, env: both })
      wrong = await startGateway({ config, env: { ...both, ...clock.env } })
    })
    afterAll(async () => {
      await wrong?.stop()
      await right?.stop()
      await sandbox.stop()
      await place.remove()
    })

    const clockAlerts = async () =>
      (await right.admin('GET', '/alerts?kind=clock')).body.items as { message: string }[]

    /** Everything of it is to succeed. */
    async function work(name: string): Promise<void> {
      const images = [1, 2, 3].map((n) =>
        right.post('/v1/images/generations', picture(`${name} ${n}`)),
      )
      const videos = [1, 2, 3].map((n) => right.post('/v1/videos', video(`${name} ${n}`)))
      const natives = [1, 2].map((n) => right.post(native, nativeTask(`${name} ${n}`)))
      const answers = await Promise.all([...images, ...videos, ...natives])
      const said = await Promise.all(answers.map((each) => each.text()))
      expect(answers.map(({ status }, at) => [status, status === 200 ? '' : said[at]])).toEqual(
        answers.map(() => [200, '']),
      )
      await settled(right)
      const rows = (await readTasks(right)).filter(({ request }) => request.prompt.startsWith(name))
      expect(rows.map(({ state }) => state)).toEqual(answers.map(() => 'succeeded'))
    }

    test('takes no work, says so everywhere, and takes work again when it is right', async () => {
      expect(await readyz(wrong)).toEqual({
        status: 503,
        said: expect.stringMatching(
          /^the clock of this gateway is 900\d\d s ahead of the database's$/,
        ),
      })
      for (const [path, body] of [
        [
          '/v1/chat/completions',
          { model: 'txta-plus', messages: [{ role: 'user', content: 'hi' }] },
        ],
        ['/v1/videos', video('not here')],
        ['/v1/images/generations', picture('not here')],
        [native, nativeTask('not here')],
      ] as const) {
        const answer = await wrong.post(path, body)
        expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5'])
        expect((await errorOf(answer)).code).toBe('overloaded')
      }
      expect(wrong.output()).toContain('the clock of this gateway is 900')
      const alerts = await until('an alert', async () => (await clockAlerts()).at(0))
      expect(alerts.message).toContain("ahead of the database's")
      clock.set(0)
      await until('recovery', async () => ((await readyz(wrong)).status === 200 ? true : undefined))
      expect((await wrong.chat('here')).status).toBe(200)
      await until('no alert', async () => ((await clockAlerts()).length === 0 ? true : undefined))
      clock.set(-2 * minuteMs)
      const slow = await until('that it is slow', async () => {
        const { said } = await readyz(wrong)
        return said === 'ready' ? undefined : said
      })
      expect(slow).toMatch(/ s behind the database's$/)
      clock.set(30 * secondMs)
      await until('a small error', async () =>
        (await readyz(wrong)).status === 200 ? true : undefined,
      )
    })

    test.each([
      ['5 minutes', 5 * minuteMs],
      ['20 minutes', 20 * minuteMs],
      ['an hour', hourMs],
      ['25 hours', 25 * hourMs],
      ['minus an hour', -hourMs],
    ])('leaves the work of the other alone: %s', async (name, aheadMs) => {
      clock.set(aheadMs)
      await until('that it is off', async () =>
        (await readyz(wrong)).status === 503 ? true : undefined,
      )
      await work(name)
      const { body } = await right.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
    })

    test('leaves the work of the other alone also when it starts like that', async () => {
      await wrong.stop()
      clock.set(25 * hourMs)
      const both = { ...env, GATEWAY_DATABASE_URL: place.options.databaseUrl! }
      wrong = await startGateway({ config: configFor(sandbox), env: { ...both, ...clock.env } })
      await work('started late')
      const ids = (await readTasks(right)).map(({ id }) => Number.parseInt(id.slice(-32, -20), 16))
      expect(ids.filter((atMs) => Math.abs(atMs - Date.now()) > hourMs)).toEqual([])
    })
  })

  describe("the database's own clock, set while gateways run", () => {
    let place: Place
    let sandbox: Sandbox
    let gateway: TestGateway
    const set = (interval: string) =>
      onServer(`UPDATE clocks.ahead SET by = '${interval}'`, databaseOf(place))

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ taskSeconds: 3 })
      const name = databaseOf(place)
      // What stands before pg_catalog in the path is found first.
      for (const statement of [
        'CREATE SCHEMA clocks',
        "CREATE TABLE clocks.ahead AS SELECT interval '0' AS by",
        `CREATE FUNCTION clocks.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
         AS 'SELECT pg_catalog.clock_timestamp() + by FROM clocks.ahead'`,
        `ALTER DATABASE "${name}" SET search_path = public, clocks, pg_catalog`,
      ]) {
        await onServer(statement, name)
      }
      gateway = await startGateway({
        config: configFor(sandbox),
        env: { ...env, GATEWAY_DATABASE_URL: place.options.databaseUrl! },
      })
    })
    afterAll(async () => {
      await gateway?.stop()
      await sandbox.stop()
      await place.remove()
    })
    const ready = (status: number) =>
      until(`status ${status}`, async () =>
        (await readyz(gateway)).status === status ? true : undefined,
      )

    test.each([
      ['back', '-1 hour'],
      ['ahead', '40 days'],
    ])('%s: no new work, and what there is ends as it should', async (name, interval) => {
      let arrivals = 0
      const receiver = startUpstream(
        () => new Response('{}', { status: ++arrivals > 1 ? 200 : 500 }),
      )
      const asked = { ...nativeTask(name), callback_url: `${receiver.url}/told` }
      const key = { 'idempotency-key': name }
      const image = gateway.post('/v1/images/generations', picture(name))
      const first = await gateway.post(native, asked, key)
      expect(first.status).toBe(200)
      expect((await gateway.post('/v1/videos', video(name))).status).toBe(200)
      await set(interval)
      await ready(503)
      expect((await gateway.post('/v1/videos', video('not now'))).status).toBe(503)
      expect((await image).status).toBe(200)
      await settled(gateway)
      const rows = (await readTasks(gateway)).filter(({ request }) => request.prompt === name)
      expect(rows.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded'])
      await until('the second attempt', () => (arrivals >= 2 ? true : undefined), waitMs)
      const again = await gateway.post(native, asked, key)
      expect([again.status, await again.text()]).toEqual([200, await first.text()])
      await set('0')
      await ready(200)
      expect((await gateway.chat('hello')).status).toBe(200)
      await receiver.stop()
    })
  })

  describe('a gateway that dies while it creates', () => {
    let place: Place
    let sandbox: Sandbox
    let other: TestGateway
    const start = () =>
      startGateway({
        config: configFor(sandbox),
        env: { ...env, GATEWAY_DATABASE_URL: place.options.databaseUrl! },
      })
    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ taskSeconds: 1 })
      other = await start()
    })
    afterAll(async () => {
      await other?.stop()
      await sandbox.stop()
      await place.remove()
    })

    const hanging = ' [[sim:hang]]'
    const ways: readonly [string, string, object][] = [
      ['videos', '/v1/videos', video(`a lamp${hanging}`)],
      ['arkvendor', native, nativeTask(`a lamp${hanging}`)],
      [
        'vendorg',
        '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
        { instances: [{ prompt: `a lamp${hanging}` }], parameters: { durationSeconds: 4 } },
      ],
      [
        'imgvendor',
        '/imgvendor/v1/images/generations',
        { model_name: 'imgvendor-v2', prompt: `a lamp${hanging}`, n: 1 },
      ],
      ['images', '/v1/images/generations', picture(`a lamp${hanging}`)],
    ]

    test('a retry elsewhere hears in a moment that nobody knows, in every dialect', async () => {
      const dying = await start()
      const ask = async (at: TestGateway, [name, path, body]: (typeof ways)[number]) => {
        const answer = await at.post(path, body, { 'idempotency-key': `dies ${name}` })
        const text = await answer.text()
        const { error } = JSON.parse(text) as { error: { code: unknown; reason?: string } }
        return `${answer.status} ${error.reason ?? error.code}`
      }
      const asked = ways.map((way) => ask(dying, way).catch(() => 'cut off'))
      await until('all rows', async () => {
        const rows = (await readTasks(other)).filter(({ state }) => state === 'accepted')
        return rows.length === ways.length ? true : undefined
      })
      expect(await Promise.all(ways.map((way) => ask(other, way)))).toEqual(
        ways.map(() => '409 idempotency_in_flight'),
      )
      const before = (await sandboxTasks(sandbox)).length
      await dying.stop('SIGKILL')
      expect(await Promise.all(asked)).toEqual(ways.map(() => 'cut off'))
      // Far below the time that a create may take: nothing waits for that to pass.
      for (const way of ways) {
        const reply: string[] = []
        await until(`what became of ${way[0]}`, async () => {
          const said = await ask(other, way)
          if (reply.at(-1) !== said) reply.push(said)
          return said.startsWith('409') ? undefined : true
        })
        expect(reply.filter((said) => said !== '409 idempotency_in_flight')).toEqual([
          '504 upstream_outcome_unknown',
        ])
      }
      expect(await Promise.all(ways.map((way) => ask(other, way)))).toEqual(
        ways.map(() => '504 upstream_outcome_unknown'),
      )
      expect((await sandboxTasks(sandbox)).length).toBe(before)
    })
  })
}

describe.each([...storeKinds])('a clock that is set while a gateway on %s runs', (engine) => {
  let place: Place
  let sandbox: Sandbox
  let gateway: TestGateway
  let clock: WallClock
  const start = () => {
    const { dataDir, databaseUrl } = place.options
    const where = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
    return startGateway({
      config: configFor(sandbox),
      dataDir,
      env: { ...env, ...where, ...clock.env },
    })
  }
  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ taskSeconds: 3 })
    clock = wallClock(0)
    gateway = await start()
  })
  afterAll(async () => {
    await gateway?.stop()
    await sandbox.stop()
    await place.remove()
  })

  const putRight = () => {
    clock.set(0)
    return until('work', async () => ((await readyz(gateway)).status === 200 ? true : undefined))
  }
  const succeeded = async (name: string, count: number) => {
    await settled(gateway)
    const rows = (await readTasks(gateway)).filter(({ request }) => request.prompt.startsWith(name))
    expect(rows.map(({ state }) => state)).toEqual(Array.from({ length: count }, () => 'succeeded'))
  }

  test('back by an hour: open tasks, holds and callbacks go on', async () => {
    let arrivals = 0
    const receiver = startUpstream(() => new Response('{}', { status: ++arrivals > 1 ? 200 : 500 }))
    const asked = { ...nativeTask('back'), callback_url: `${receiver.url}/told` }
    expect((await gateway.post(native, asked)).status).toBe(200)
    expect((await gateway.post('/v1/videos', video('back'))).status).toBe(200)
    clock.set(-hourMs)
    await succeeded('back', 2)
    await until('the second attempt', () => (arrivals >= 2 ? true : undefined), waitMs)
    await receiver.stop()
    await putRight()
  })

  test('back by an hour between two runs: the same, and models keep their prices', async () => {
    let arrivals = 0
    const receiver = startUpstream(() => new Response('{}', { status: ++arrivals > 1 ? 200 : 500 }))
    const asked = { ...nativeTask('later'), callback_url: `${receiver.url}/told` }
    expect((await gateway.post(native, asked)).status).toBe(200)
    expect((await gateway.post('/v1/videos', video('later'))).status).toBe(200)
    const made = await gateway.admin('POST', '/prices', {
      model: 'txta-plus',
      unit: 'token',
      per_million: { input: '1.00', output: '7.00' },
    })
    expect(made.status).toBe(201)
    await gateway.stop('SIGKILL')
    clock.set(-hourMs)
    gateway = await start()
    if (engine === 'postgres') {
      // Beside such a clock it takes no work; what there is goes on.
      expect((await readyz(gateway)).status).toBe(503)
    } else {
      expect((await gateway.chat('hello')).status).toBe(200)
      const { body } = await gateway.admin('GET', '/prices?model=txta-plus')
      const current = (body.items as { id: string; current: boolean }[]).find(
        (each) => each.current,
      )
      expect(current?.id).toBe(made.body.id)
    }
    await succeeded('later', 2)
    await until('the second attempt', () => (arrivals >= 2 ? true : undefined), waitMs)
    await receiver.stop()
    await gateway.stop()
    clock.set(0)
    gateway = await start()
    await putRight()
  })

  test('ahead by forty days: no task fails, and no key is forgotten', async () => {
    const create = (prompt: string, key: string) =>
      gateway.post('/v1/videos', video(prompt), { 'idempotency-key': key })
    const first = await create('ahead', 'forty days')
    expect(first.status).toBe(200)
    const { id } = (await first.json()) as { id: string }
    const made = (await sandboxTasks(sandbox)).length
    const again = async () => {
      const answer = await create('ahead', 'forty days')
      const body = (await answer.json()) as { id: string }
      return [answer.status, body.id, answer.headers.get('idempotent-replayed')]
    }
    clock.set(40 * dayMs)
    if (engine === 'postgres') {
      await until('that it is off', async () =>
        (await readyz(gateway)).status === 503 ? true : undefined,
      )
    }
    expect(await again()).toEqual([200, id, 'true'])
    await succeeded('ahead', 1)
    expect((await create('ahead too', 'other')).status).toBe(engine === 'postgres' ? 503 : 200)
    // A start cannot know better than its clock: what is open is asked for, keys are kept for a while.
    await gateway.stop()
    gateway = await start()
    expect(await again()).toEqual([200, id, 'true'])
    expect((await sandboxTasks(sandbox)).length).toBe(made + (engine === 'postgres' ? 0 : 1))
    clock.set(0)
  })
})
