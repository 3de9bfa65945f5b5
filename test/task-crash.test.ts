// The same promise for tasks: whenever the gateway dies, no task is lost or made twice, what
// succeeded is charged exactly once, everything else is free, and the first end is the end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../sandbox/server.ts'
import type { ListedTask } from '../sandbox/tasks.ts'
import { parseNanos } from '../src/lib/decimal.ts'
import { engines, newPlace, type Place } from '../src/store/test-engines.ts'
import { readAccount } from './support/books.ts'
import { apiToken, startGateway, type TestGateway } from './support/gateway.ts'
import { startKilling } from './support/killing.ts'
import { seeded, testSeed } from './support/seeded.ts'
import {
  isOver,
  readTaskLedger,
  readTasks,
  type TaskEntry,
  type TaskRow,
} from './support/task-books.ts'
import { runTaskLoad, type TaskLoad } from './support/task-load.ts'

const taskCount = 200
const leastKills = 16
const caseLimitMs = 120_000

if (!engines.includes('postgres')) {
  console.error('left out: crash test of tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

interface Aftermath {
  load: TaskLoad
  kills: number
  rows: readonly TaskRow[]
  entries: readonly TaskEntry[]
  /** The upstream's own account of every task, by its id. */
  truth: ReadonlyMap<string, ListedTask>
  fresh: TestGateway
}

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "5000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { vf: "${sandbox.protocols.vf}" }
    models: { vfa-2.7-t2v: "*" }
`

function promptOf(number: number, random: () => number): string {
  const share = random()
  const directive = share < 0.15 ? '[[sim:fail]]' : share < 0.25 ? '[[sim:flip]]' : ''
  return `film ${number} ${directive}`
}

/** Its create was cut off: nobody was told of it, and it waits until its time is up. */
const isCutOff = ({ state, upstream_id }: TaskRow) =>
  (state === 'accepted' || state === 'unknown') && upstream_id === null

async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  return port!
}

async function runCrashes(place: Place, sandbox: Sandbox, seed: number): Promise<Aftermath> {
  const random = seeded(seed)
  const port = await freePort()
  const { dataDir, databaseUrl } = place.options
  const env = {
    GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
    ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
  }
  const start = () => startGateway({ config: configFor(sandbox), dataDir, port, env })
  const prompts = Array.from({ length: taskCount }, (_, i) => promptOf(i, random))
  const killing = startKilling(start, random)
  await Promise.race([killing.after(0), killing.broken])
  const url = `http://127.0.0.1:${port}`
  const running = runTaskLoad({
    url,
    prompts,
    creators: 6,
    lookers: 3,
    leastKills,
    lives: killing,
    random,
  })
  const load = await Promise.race([running, killing.broken])
  await killing.end()
  const fresh = await start()
  let rows = await readTasks(fresh)
  while (!rows.every((row) => isOver(row) || isCutOff(row))) {
    await Bun.sleep(200)
    rows = await readTasks(fresh)
  }
  const listed = await fetch(`${sandbox.url}/_sandbox/tasks`)
  const { tasks } = (await listed.json()) as { tasks: ListedTask[] }
  return {
    load,
    kills: killing.killed(),
    rows,
    entries: await readTaskLedger(fresh),
    truth: new Map(tasks.map((task) => [task.id, task])),
    fresh,
  }
}

describe.each([...engines])('tasks after kills at random moments, on %s,', (engine) => {
  let place: Place
  let sandbox: Sandbox
  let after: Aftermath

  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ taskSeconds: 1 })
    const seed = testSeed()
    const startedMs = performance.now()
    after = await runCrashes(place, sandbox, seed)
    const { rows, load, kills, truth } = after
    console.error(
      `task crash test on ${engine}: seed ${seed}, ${kills} kills, ${rows.length} rows, ` +
        `${load.created.size} answered, ${load.unanswered} unanswered, ${truth.size} upstream, ` +
        `${rows.filter(isCutOff).length} cut off, ${load.looks} looks, ` +
        `${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
    )
  }, caseLimitMs)

  afterAll(async () => {
    await after?.fresh.stop()
    await sandbox.stop()
    await place.remove()
  })

  const bookedFor = (id: string) => after.entries.filter(({ task_id }) => task_id === id)

  test('there were enough tasks and kills to mean something', () => {
    expect(after.kills).toBeGreaterThanOrEqual(15)
    expect(after.load.created.size).toBeGreaterThan(taskCount / 2)
    expect(after.load.looks).toBeGreaterThan(50)
    expect(after.load.refusals).toEqual([])
    const states = new Set(after.rows.map(({ state }) => state))
    expect(states.has('succeeded') && states.has('failed')).toBe(true)
  })

  test('every task that a caller was told of is there and has ended', () => {
    const rows = new Map(after.rows.map((row) => [row.id, row]))
    const wrong = [...after.load.created].filter(([id, prompt]) => {
      const row = rows.get(id)
      return row === undefined || !isOver(row) || row.request.prompt !== prompt
    })
    expect(wrong).toEqual([])
  })

  test('no task was made twice, neither here nor upstream', () => {
    const { rows, truth } = after
    const known = rows.flatMap(({ upstream_id }) => upstream_id ?? [])
    expect(new Set(known).size).toBe(known.length)
    expect(known.filter((id) => !truth.has(id))).toEqual([])
    expect(new Set(rows.map(({ request }) => request.prompt)).size).toBe(rows.length)
    // What the upstream has and no row names came from creates that were cut off.
    const nameless = rows.length - known.length
    expect(truth.size - known.length).toBeLessThanOrEqual(nameless)
  })

  test('tasks ended as the upstream says, those that change their mind aside', () => {
    const wrong = after.rows.filter(({ state, upstream_id, request: { prompt } }) => {
      if (upstream_id === null || prompt.includes('flip')) return false
      return after.truth.get(upstream_id)!.state !== state
    })
    expect(wrong).toEqual([])
  })

  test('no caller ever saw an end change', () => {
    const words: Record<string, string> = { succeeded: 'completed', failed: 'failed' }
    const rows = new Map(after.rows.map(({ id, state }) => [id, words[state]]))
    const wrong = [...after.load.ends].filter(
      ([id, ends]) => ends.size !== 1 || !ends.has(rows.get(id) ?? ''),
    )
    expect(wrong).toEqual([])
    expect(after.load.ends.size).toBeGreaterThan(0)
  })

  test('what succeeded is charged exactly once and everything else is free', () => {
    for (const row of after.rows) {
      const booked = bookedFor(row.id).map(({ kind, amount }) => `${kind} ${amount}`)
      const expected = ['hold -3.00']
      if (isOver(row)) expected.push('release 3.00')
      if (row.state === 'succeeded') expected.push('charge -3.00')
      expect([row.id, row.state, booked.toSorted()]).toEqual([
        row.id,
        row.state,
        expected.toSorted(),
      ])
      expect(row.charge).toBe(row.state === 'succeeded' ? '3.00' : '0.00')
    }
    const ids = new Set(after.rows.map(({ id }) => id))
    expect(
      after.entries.filter(({ task_id, kind }) => kind !== 'credit' && !ids.has(task_id!)),
    ).toEqual([])
  })

  test('the books balance, and what is held is what still lives', async () => {
    const account = await readAccount(after.fresh)
    const live = after.rows.filter((row) => !isOver(row))
    const held = live.reduce((sum, { hold }) => sum + parseNanos(hold)!, 0n)
    expect(parseNanos(account.held)).toBe(held)
    const spent = after.rows.reduce((sum, { charge }) => sum + parseNanos(charge)!, 0n)
    expect(parseNanos(account.balance)).toBe(parseNanos('5000.00')! - spent)
    const { body } = await after.fresh.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })
})
