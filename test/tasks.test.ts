// Tasks from the outside: videos made by the sandbox, which nobody asks about until they have ended.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseNanos } from '../src/lib/decimal.ts'
import { engines, newPlace, type Place } from '../src/store/test-engines.ts'
import { readAccount, sumOf } from './support/books.ts'
import { apiToken, startGateway, type TestGateway } from './support/gateway.ts'
import { isOver, readTaskLedger, readTasks, type TaskRow } from './support/task-books.ts'

if (!engines.includes('postgres')) {
  console.error('left out: tasks over HTTP on PostgreSQL (set TEST_POSTGRES_URL)')
}

const taskCount = 100
const otherToken = 'sk-other-0123456789abcdefghijklmno'
const config = `
accounts: [{ name: acme, balance: "1000.00" }, { name: other, balance: "10.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
`
const directiveOf = (i: number) =>
  i % 5 === 0 ? '[[sim:fail]]' : i % 5 === 1 ? '[[sim:flip]]' : ''
const wish = (prompt: string) => ({
  model: 'vfa-2.7-t2v',
  prompt,
  seconds: '5',
  size: '1280x720',
})

describe.each([...engines])('tasks over HTTP on %s', (engine) => {
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
    const answers = await Promise.all(
      Array.from({ length: taskCount }, async (_, i) => {
        const response = await gateway.post('/v1/videos', wish(`film ${i} ${directiveOf(i)}`))
        return { status: response.status, body: (await response.json()) as { id: string } }
      }),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    ids = answers.map(({ body }) => body.id)
    let all: TaskRow[]
    do {
      await Bun.sleep(100)
      all = await readTasks(gateway)
    } while (!all.every(isOver))
    rows = new Map(all.map((row) => [row.id, row]))
  }, 60_000)

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
    for (const [id, { state }] of rows) {
      const kinds = entries
        .filter(({ task_id }) => task_id === id)
        .map(({ kind, amount }) => [kind, amount])
      const charge = kinds.filter(([kind]) => kind === 'charge')
      expect([id, charge]).toEqual([id, state === 'succeeded' ? [['charge', '-3.00']] : []])
      expect(kinds).toHaveLength(state === 'succeeded' ? 3 : 2)
    }
    const account = await readAccount(gateway)
    expect(account).toMatchObject({ balance: '760.00', held: '0.00', available: '760.00' })
    expect(parseNanos(account.balance)).toBe(sumOf(entries))
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  test('stay as they ended when the upstream changes its mind', async () => {
    const flipping = ids.filter((_, i) => directiveOf(i) === '[[sim:flip]]')
    for (const id of flipping.slice(0, 3)) {
      for (let look = 0; look < 3; look++) {
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
    const foreign = ids[2]!
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
    const response = await gateway.post('/v1/videos', wish('slow [[sim:delay=30s]]'))
    const { id } = (await response.json()) as { id: string }
    const early = await get(`/v1/videos/${id}/content`)
    expect(early.status).toBe(409)
    expect(await early.json()).toMatchObject({ error: { code: 'video_not_ready' } })
    expect((await readAccount(gateway)).held).toBe('3.00')
    const film = await get(`/v1/videos/${ids[2]!}/content`)
    expect([film.status, film.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect((await film.bytes()).length).toBeGreaterThan(100)
  })
})
