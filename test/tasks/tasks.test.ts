// Tasks from the outside: videos made by the sandbox in every dialect, which nobody asks about until
// they have ended.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { readAccount, sumOf } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { isOver, readTaskLedger, readTasks, type TaskRow } from '../support/task-books.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: tasks over HTTP on PostgreSQL (set TEST_POSTGRES_URL)')
}

const taskCount = 500
/** Far longer than they take; a machine may be busy. */
const endMs = 60_000
/** Creates under way at the same time. */
const width = 50
const otherToken = 'sk-other-0123456789abcdefghijklmno'
const config = `
accounts: [{ name: acme, balance: "10000.00" }, { name: other, balance: "10.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
`
const directiveOf = (i: number) =>
  i % 5 === 0 ? '[[sim:fail]]' : i % 5 === 1 ? '[[sim:flip]]' : ''
const input = (prompt: string) => ({
  model: 'vfa-2.7-t2v',
  prompt,
  seconds: '5',
  size: '1280x720',
})

interface Dialect {
  path: string
  body(prompt: string): object
  /** The `video_…` id in the answer to a create. */
  idIn(answer: Record<string, string>): string
  cost: string
}

/** The same film in each dialect, by the model that is asked for in it. */
const dialects: readonly Dialect[] = [
  { path: '/v1/videos', body: input, idIn: ({ id }) => id!, cost: '-3.00' },
  {
    path: '/arkvendor/api/v3/contents/generations/tasks',
    body: (text) => ({
      model: 'vidmodel-1-5-pro',
      content: [{ type: 'text', text }],
      ...{ resolution: '720p', ratio: '16:9', duration: 5 },
    }),
    idIn: ({ platform_id }) => platform_id!,
    // 1280x720 and 121 pictures are 108,900 video tokens.
    cost: '-1.7424',
  },
  {
    path: '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
    body: (prompt) => ({ instances: [{ prompt }], parameters: { durationSeconds: 5 } }),
    idIn: ({ name }) => name!.replace('operations/', 'video_'),
    cost: '-5.00',
  },
]
const dialectOf = (i: number): Dialect => dialects[i % dialects.length]!

/** All of them, each asked for once, a few at a time. */
async function createAll(gateway: TestGateway): Promise<string[]> {
  const ids: string[] = []
  const left = Array.from({ length: taskCount }, (_, i) => i).values()
  const worker = async () => {
    for (const i of left) {
      const { path, body, idIn } = dialectOf(i)
      const response = await gateway.post(path, body(`film ${i} ${directiveOf(i)}`))
      const text = await response.text()
      expect([i, response.status, text]).toEqual([i, 200, text])
      ids[i] = idIn(JSON.parse(text) as Record<string, string>)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return ids
}

describe.each([...storeKinds])('tasks over HTTP on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  let ids: string[]
  let rows: Map<string, TaskRow>

  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    gateway = await startGateway({
      config,
      dataDir,
      env: {
        GATEWAY_SANDBOX_TASK_SECONDS: '1',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
    ids = await createAll(gateway)
    const all = await until(
      'all tasks to end',
      async () => {
        const found = await readTasks(gateway)
        return found.every(isOver) ? found : undefined
      },
      endMs,
    )
    rows = new Map(all.map((row) => [row.id, row]))
  }, 2 * endMs)

  afterAll(async () => {
    await gateway.stop()
    await place.remove()
  })

  const get = (path: string, token = apiToken) =>
    fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${token}` } })

  test('end by themselves, as the upstream meant them to', () => {
    expect(rows.size).toBe(taskCount)
    const wrong = ids.filter((id, i) => {
      const { state } = rows.get(id)!
      return state !== (directiveOf(i) === '[[sim:fail]]' ? 'failed' : 'succeeded')
    })
    expect(wrong).toEqual([])
  })

  test('are charged when they succeeded, once, and never otherwise', async () => {
    const entries = await readTaskLedger(gateway)
    for (const [i, id] of ids.entries()) {
      const made = entries.filter(({ task_id }) => task_id === id)
      const charges = made.filter(({ kind }) => kind === 'charge').map(({ amount }) => amount)
      const isDone = rows.get(id)!.state === 'succeeded'
      expect([i, charges]).toEqual([i, isDone ? [dialectOf(i).cost] : []])
      expect(made).toHaveLength(isDone ? 3 : 2)
    }
    const account = await readAccount(gateway)
    expect([account.held, account.available]).toEqual(['0.00', account.balance])
    expect(parseNanos(account.balance)).toBe(sumOf(entries))
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  test('stay as they ended when the upstream changes its mind', async () => {
    const flipping = ids.filter((_, i) => directiveOf(i) === '[[sim:flip]]')
    for (const id of flipping.slice(0, 2 * dialects.length)) {
      for (let poll = 0; poll < 3; poll++) {
        const response = await get(`/v1/videos/${id}`)
        expect(await response.json()).toMatchObject({ id, status: 'completed' })
      }
    }
  })

  test('of others look like those that never were', async () => {
    const shape = async (id: string, path = '') => {
      const response = await get(`/v1/videos/${id}${path}`, otherToken)
      const text = (await response.text()).replaceAll(id, 'ID').replace(/req_\w+/g, 'REQ')
      return [response.status, text]
    }
    const foreign = ids[3]!
    const never = `${foreign.slice(0, -4)}0000`
    for (const path of ['', '/content']) {
      const answer = await shape(foreign, path)
      expect(answer[0]).toBe(404)
      expect(answer).toEqual(await shape(never, path))
      expect(answer).toEqual(await shape(rows.get(foreign)!.upstream_id!, path))
    }
    const list = (await (await get('/v1/videos', otherToken)).json()) as { data: unknown[] }
    expect(list.data).toEqual([])
  })

  test('have no content before they end, and have it afterwards', async () => {
    const response = await gateway.post('/v1/videos', input('slow [[sim:delay=30s]]'))
    const { id } = (await response.json()) as { id: string }
    const early = await get(`/v1/videos/${id}/content`)
    expect(early.status).toBe(409)
    expect(await early.json()).toMatchObject({ error: { code: 'video_not_ready' } })
    expect((await readAccount(gateway)).held).toBe('3.00')
    const film = await get(`/v1/videos/${ids[3]!}/content`)
    expect([film.status, film.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect((await film.bytes()).length).toBeGreaterThan(100)
  })
})

// The sandbox dies with its gateway; the next one answers for what it left.
describe.each([...storeKinds])('tasks of the built-in sandbox on %s', (engine) => {
  test(
    'run on when all is killed and started again, and are charged once',
    async () => {
      const place = await newPlace(engine)
      const { dataDir, databaseUrl } = place.options
      const start = () =>
        startGateway({
          config,
          dataDir,
          env: {
            GATEWAY_SANDBOX: 'on',
            ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
          },
        })
      const untilAll = (gateway: TestGateway, what: string, wanted: (row: TaskRow) => boolean) =>
        until(
          `all tasks to be ${what}`,
          async () => {
            const rows = await readTasks(gateway)
            return rows.length === 2 * dialects.length && rows.every(wanted) ? rows : undefined
          },
          endMs,
        )
      const killed = await start()
      for (const { path, body } of dialects) {
        for (const fate of ['', '[[sim:fail]]']) {
          const response = await killed.post(path, body(`a film [[sim:delay=10s]] ${fate}`))
          expect(response.status).toBe(200)
        }
      }
      await untilAll(killed, 'running', ({ state }) => state === 'running')
      await killed.stop('SIGKILL')
      const gateway = await start()
      try {
        const rows = await untilAll(gateway, 'over', isOver)
        const entries = await readTaskLedger(gateway)
        for (const { id, state, request } of rows) {
          const isDone = !request.prompt.includes('fail')
          expect([id, state]).toEqual([id, isDone ? 'succeeded' : 'failed'])
          const charges = entries.filter(({ kind, task_id }) => kind === 'charge' && task_id === id)
          expect(charges).toHaveLength(isDone ? 1 : 0)
          const film = await fetch(`${gateway.url}/v1/videos/${id}/content`, {
            headers: { authorization: `Bearer ${apiToken}` },
          })
          const bytes = Buffer.from(await film.arrayBuffer())
          if (isDone) expect([film.status, bytes.toString('latin1', 4, 8)]).toEqual([200, 'ftyp'])
          else expect(film.status).not.toBe(200)
        }
        expect((await readAccount(gateway)).held).toBe('0.00')
      } finally {
        await gateway.stop()
        await place.remove()
      }
    },
    3 * endMs,
  )
})

test('why a task cost what it cost is told by its id and by that of its request', async () => {
  const gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
  try {
    const created = await gateway.post('/v1/videos', {
      model: 'vfa-2.7-t2v',
      prompt: 'a cat',
      seconds: 4,
      resolution: '720p',
    })
    const { id } = (await created.json()) as { id: string }
    const requestId = created.headers.get('x-request-id')!
    const told = async (of: string) => (await gateway.admin('GET', `/explain/${of}`)).body
    await until('the charge', async () => ((await told(id)).charge === '0.00' ? undefined : true))
    const explained = await told(id)
    expect(explained).toMatchObject({ task_id: id, request_id: requestId, charge: '2.40' })
    expect(explained.usage).toEqual((await gateway.admin('GET', `/tasks/${id}`)).body.usage)
    expect(explained.steps).toEqual([
      'set aside when it was made: 2.40 CNY',
      '4 seconds at 720p x 0.60 = 2.40 CNY, rounded half up',
    ])
    expect(explained.entries).toHaveLength(3)
    expect(await told(requestId)).toEqual(explained)
    const { body } = await gateway.admin('GET', `/requests/${requestId}`)
    expect(body.task_id).toBe(id)
  } finally {
    await gateway.stop()
  }
})
