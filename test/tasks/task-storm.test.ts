// The same promise for tasks: whenever a gateway dies, no task is lost or made twice, what succeeded
// is charged exactly once, everything else is free, and the first end is the end, in every dialect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { type CrashPoint, crashPoints } from '../../src/lib/crash-point.ts'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import type { Dialect } from '../../src/store/schema.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { readAccount, sumOf } from '../support/books.ts'
import { apiToken } from '../support/gateway.ts'
import { testSeed } from '../support/seeded.ts'
import { isOver, isRefusedCreate, type TaskRow } from '../support/task-books.ts'
import { type Aftermath, openingBalance, runStorm } from '../support/tasks/task-storm.ts'
import { amounts, type Fate } from '../support/tasks/task-wishes.ts'

const isFull = process.env['TEST_STORM_FULL'] === '1'
const tasks = isFull ? 1_000 : 200
const randomKills = isFull ? 40 : 6
const plannedEvery = isFull ? 3 : 1
if (!isFull) console.error('left out: 800 of 1,000 tasks of the storm (set TEST_STORM_FULL=1)')
/** Long enough for other things to happen to a task while it is looked at. */
const pollDelayMs = 250
const caseLimitMs = 1_200_000

if (!storeKinds.includes('postgres')) {
  console.error('left out: task storm on PostgreSQL (set TEST_POSTGRES_URL)')
}

const monthsClose = 'no month ends in a storm; the closing of bills is struck in its own test'
const months = {
  'channel-month-closing': 'nobody closes the month of a channel in a storm',
  'channel-month-closed': 'as above',
  'month-closing': monthsClose,
  'month-closed': monthsClose,
  'bill-sending': 'no bill is sent in a storm; sending is struck in its own test',
  'bill-sent': 'as above',
}
const upgrades = {
  'schema-step': 'no schema changes in a storm; upgrades are struck in their test',
}

const others = {
  'task-moved':
    'no virtual model is asked for in a storm; their tasks are struck in their own test',
  'response-kept':
    'no response is made in the background in a storm; their calls are struck in their own test',
  'response-claimed': 'as above',
  'response-begun': 'as above',
  'response-answered': 'as above',
  'notice-written': 'nothing subscribes to notices in a storm; they are struck in their own test',
  'notice-due': 'as above',
  'notice-sent': 'as above',
  'batch-line': 'no batch runs in a storm; batches are struck in their own test',
  'batch-files': 'as above',
  'native-held': 'as above',
  'native-uploaded': 'as above',
  'native-created': 'as above',
  'native-adopting': 'as above',
  'native-kept': 'as above',
}

/** Points that no gateway of a storm comes by, and why. */
const elsewhere: Readonly<Record<Dialect, Partial<Record<CrashPoint, string>>>> = {
  sqlite: {
    ...months,
    ...upgrades,
    ...others,
    'credit-lease-drawn': 'one gateway has the whole balance in its hands',
    'credit-lease-returned': 'as above',
  },
  postgres: {
    ...months,
    ...upgrades,
    ...others,
    'media-copied': 'results are kept in the storm on SQLite',
    'media-kept': 'as above',
    'records-journaled': 'PostgreSQL needs no journal',
    'records-applied': 'as above',
  },
}

/** An upstream may call a task by a path; its last part is the id. */
const lastPart = (name: string) => name.slice(name.lastIndexOf('/') + 1)

/** As many as a person reads. */
const few = <T>(list: readonly T[]) => list.slice(0, 5)

const pointsOn = (engine: Dialect) =>
  crashPoints.filter((point) => elsewhere[engine][point] === undefined)

/** These come by only when nobody asks for anything. */
const quietPoints: readonly CrashPoint[] = ['credit-lease-returned']
const isQuiet = (point: CrashPoint) => quietPoints.includes(point)

const gatewaysOn: Readonly<Record<Dialect, number>> = { sqlite: 1, postgres: 3 }

describe.each([...storeKinds])('after a storm of tasks and kills, on %s,', (engine) => {
  let place: Place
  let sandbox: Sandbox
  let after: Aftermath

  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ taskSeconds: 1, pollDelayMs })
    const seed = testSeed()
    const gateways = gatewaysOn[engine]
    const all = pointsOn(engine)
    after = await runStorm({
      place,
      sandbox,
      gateways,
      keepsMedia: engine === 'sqlite',
      tasks,
      randomKills,
      plannedEvery,
      points: all.filter((point) => !isQuiet(point)),
      quietPoints: all.filter(isQuiet),
      seed,
    })
    const { load, truth } = after
    console.error(
      `task storm on ${engine}: seed ${seed}, ${gateways} gateways, ${after.randomKills} kills, ` +
        `${after.struck.length} deaths at points, ${after.rows.length} tasks, ` +
        `${load.created.size} answered, ${load.unanswered.length} unanswered, ` +
        `${truth.size} upstream, ${load.polls} looks, ${load.cancels} cancels, ` +
        `${load.calls.length} calls, ${after.stormSeconds.toFixed(1)} s of storm, ` +
        `${after.quietSeconds.toFixed(1)} s of quiet`,
    )
  }, caseLimitMs)

  afterAll(async () => {
    await Promise.all(after?.fresh.map((gateway) => gateway.stop()) ?? [])
    await sandbox.stop()
    await place.remove()
  })

  const fateOf = (prompt: string): Fate => after.load.asked.get(prompt)!.fate

  test('there were enough tasks and kills to mean something', () => {
    const { load, rows } = after
    expect(after.randomKills).toBeGreaterThanOrEqual(randomKills)
    expect(rows.length).toBeGreaterThanOrEqual(tasks)
    expect(load.created.size).toBeGreaterThan(tasks * 0.8)
    expect(load.unanswered.length).toBeGreaterThan(0)
    expect(load.polls).toBeGreaterThan(tasks)
    expect(load.cancels).toBeGreaterThan(0)
    expect(few(load.strange)).toEqual([])
    const states = new Set(rows.map(({ state }) => state))
    expect([...states].toSorted()).toEqual(['cancelled', 'failed', 'succeeded'])
  })

  test('a gateway died at every named point', () => {
    expect(after.missed).toEqual([])
    expect(after.struck.toSorted()).toEqual(pointsOn(engine).toSorted())
  })

  test('every task has ended, and those that a caller was told of are there', () => {
    expect(few(after.rows.filter((row) => !isOver(row)))).toEqual([])
    const rows = new Map(after.rows.map((row) => [row.id, row.request.prompt]))
    const wrong = [...after.load.created].filter(([id, { prompt }]) => rows.get(id) !== prompt)
    expect(few(wrong)).toEqual([])
  })

  test('no task was made twice, neither here nor upstream', () => {
    const { rows, truth } = after
    const known = rows.flatMap(({ upstream_id }) =>
      upstream_id === null ? [] : lastPart(upstream_id),
    )
    expect(new Set(known).size).toBe(known.length)
    expect(few(known.filter((id) => !truth.has(id)))).toEqual([])
    const prompts = rows.map(({ request }) => request.prompt)
    expect(new Set(prompts).size).toBe(rows.length)
    expect(few(prompts.filter((prompt) => !after.load.asked.has(prompt)))).toEqual([])
    // What the upstream has and no row names came from creates whose answer nobody heard.
    expect(truth.size - known.length).toBeLessThanOrEqual(rows.length - known.length)
  })

  test('no create went to the upstream twice', () => {
    // The name of a call begins with the checksum of its body; a look has none.
    const bodies = after.upstreamCalls
      .filter(({ protocol }) =>
        ['vf', 'arkvendor', 'vendorg', 'imgvendor'].includes(protocol ?? ''),
      )
      .map(({ id, protocol }) => `${protocol} ${id.split('-')[1]}`)
      .filter((body) => !body.endsWith(' 00000000'))
    expect(bodies.length).toBeGreaterThanOrEqual(tasks)
    expect(few(bodies.filter((body, i) => bodies.indexOf(body) !== i))).toEqual([])
  })

  test('tasks ended as their upstream meant them to', () => {
    const wrong = after.rows.filter(({ state, upstream_id, request: { prompt } }) => {
      const fate = fateOf(prompt)
      // Which of its two ends was seen first is chance.
      if (fate === 'flips') return state === 'cancelled'
      if (fate === 'vanishes' || upstream_id === null) return state !== 'failed'
      return after.truth.get(lastPart(upstream_id))!.state !== state
    })
    expect(few(wrong)).toEqual([])
  })

  test('no caller ever saw an end change, whichever the dialect', () => {
    const rows = new Map(after.rows.map(({ id, state }) => [id, state]))
    const wrong = [...after.load.ends].filter(
      ([id, ends]) => ends.size !== 1 || !ends.has(rows.get(id) as 'failed'),
    )
    expect(few(wrong)).toEqual([])
    const visible = after.rows.filter((row) => !isRefusedCreate(row))
    expect(after.load.ends.size).toBe(visible.length)
  })

  test('what succeeded is charged exactly once and everything else is free', () => {
    const bookedFor = Map.groupBy(after.entries, ({ task_id }) => task_id)
    const wrong = after.rows.filter((row) => {
      const { hold, charge } = amounts[row.model]!
      const expected = [`hold -${hold}`, `release ${hold}`]
      if (row.state === 'succeeded') expected.push(`charge -${charge}`)
      const booked = (bookedFor.get(row.id) ?? []).map(({ kind, amount }) => `${kind} ${amount}`)
      const same = booked.toSorted().join() === expected.toSorted().join()
      return !same || row.charge !== (row.state === 'succeeded' ? charge : '0.00')
    })
    expect(few(wrong)).toEqual([])
    const ids = new Set<string | null>([null, ...after.rows.map(({ id }) => id)])
    expect(few([...bookedFor.keys()].filter((id) => !ids.has(id)))).toEqual([])
  })

  test('text calls on the same account are charged once when they ended, else never', () => {
    const { calls } = after.load
    const charges = after.entries.filter(({ kind, task_id }) => kind === 'charge' && !task_id)
    const charged = new Set(charges.map(({ request_id }) => request_id))
    expect(charged.size).toBe(charges.length)
    const ended = calls.filter((call) => call.ended)
    expect(ended.length).toBeGreaterThan(20)
    expect(few(ended.filter(({ requestId }) => !charged.has(requestId!)))).toEqual([])
    const hopeless = calls.filter(({ kind }) => !kind.canEnd)
    expect(few(hopeless.filter(({ requestId }) => charged.has(requestId ?? '')))).toEqual([])
  })

  test('the books balance to the last digit, and nothing is held', async () => {
    const charges = after.entries.filter(({ kind }) => kind === 'charge')
    const balance = parseNanos(openingBalance)! + sumOf(charges)
    for (const gateway of after.fresh) {
      const account = await readAccount(gateway)
      expect([parseNanos(account.balance), account.held]).toEqual([balance, '0.00'])
      expect(account.available).toBe(account.balance)
    }
    expect(sumOf(after.entries)).toBe(balance)
    const { body } = await after.fresh[0]!.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  test('what succeeded can be downloaded at every gateway', async () => {
    const isFilm = ({ id, state }: TaskRow) => state === 'succeeded' && id.startsWith('video_')
    const { id } = after.rows.find(isFilm)!
    for (const { url } of after.fresh) {
      const headers = { authorization: `Bearer ${apiToken}` }
      const film = await fetch(`${url}/v1/videos/${id}/content`, { headers })
      const start = Buffer.from(await film.arrayBuffer()).toString('latin1', 4, 8)
      expect([film.status, start]).toEqual([200, 'ftyp'])
    }
  })

  test('who asked to be told was told of every end, by one id each, and of nothing else', () => {
    const { notices, rows, load } = after
    const wanted = rows.filter(({ request: { prompt }, state, upstream_id }) => {
      const { dialect, fate } = load.asked.get(prompt)!
      const isNamed = dialect === 'imgvendor' || dialect === 'arkvendor'
      // A refused create was answered, and who cancels knows.
      const isKnown = state === 'cancelled' || (fate === 'refused' && upstream_id === null)
      return isNamed && !isKnown
    })
    expect(wanted.length).toBeGreaterThan(tasks / 10)
    const told = Map.groupBy(notices, ({ taskId }) => taskId)
    expect(few(wanted.filter(({ id }) => !told.has(id)))).toEqual([])
    const known = new Map(rows.map((row) => [row.id, row.state]))
    const wrong = [...told].filter(([id, list]) => {
      const ids = new Set(list.map(({ webhookId }) => webhookId))
      const words = new Set(list.map(({ state }) => state.replace(/^succeed$/, 'succeeded')))
      return ids.size !== 1 || words.size !== 1 || !words.has(known.get(id) ?? '')
    })
    expect(few(wrong)).toEqual([])
  })

  test('every gateway ends as it should', async () => {
    for (const gateway of after.fresh) expect(await gateway.stop()).toBe(0)
  })
})
