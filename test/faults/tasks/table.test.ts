// The fault table of tasks and downloads: every row with every upstream and every dialect in which
// its models are asked for, read in all of them. The clock is turned; nothing waits.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { storeKinds } from '../../../src/store/test-stores.ts'
import { until } from '../../support/read.ts'
import { canary } from '../fault.ts'
import { checkTaskRun } from './check.ts'
import {
  opening,
  sceneOf,
  soundScript,
  type TaskCase,
  TaskRun,
  taskCasesOf,
  usualCourse,
} from './fault.ts'
import { cancelRows } from './rows-cancel.ts'
import { createRows } from './rows-create.ts'
import { downloadRows } from './rows-download.ts'
import { endRows } from './rows-end.ts'
import { pollRows } from './rows-poll.ts'
import { openTaskStage, type TaskStage } from './stage.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: faults of tasks on PostgreSQL (set TEST_POSTGRES_URL)')
}

const cases = taskCasesOf([...createRows, ...pollRows, ...endRows, ...cancelRows, ...downloadRows])

const priceOf = ({ wire, model }: TaskCase): object =>
  wire.name === 'arkvendor'
    ? { model, unit: 'video_token', per_million: '10.00' }
    : { model, unit: 'video_second', per_second: { '720p': '1.00', '1080p': '2.00' } }

/** A model, a channel and an account for each case, so that none can spoil another. */
const declare = (upstream: string): object => ({
  accounts: cases.map(({ account }) => ({ name: account, balance: opening })),
  tokens: cases.map(({ account, token }) => ({ account, name: 'test', token })),
  channels: cases.map(({ name, model, wire }) => ({
    name,
    keys: [canary],
    protocols: { [wire.name]: `${upstream}/${name}${wire.basePath}` },
    models: { [model]: '*' },
  })),
  models: cases.map(({ model, wire, dialect }) => ({
    name: model,
    kind: 'video',
    interfaces: [dialect],
    protocols: [wire.name],
  })),
  prices: cases.map(priceOf),
})

/** Files are not counted: the database opens some of its own when it first needs them. */
const openSockets = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length

const isFull = process.env['TEST_FAULTS_FULL'] === '1'
if (!isFull) {
  console.error('left out: faults of tasks in each dialect of a model (set TEST_FAULTS_FULL=1)')
}
const creates = new Set(createRows)
const rowNumber = new Map(
  [...new Set(cases.map(({ fault }) => fault))].map((fault, at) => [fault, at]),
)

/** Where a model can be asked for in two dialects, rows about what comes later take turns with them. */
function isTried(each: TaskCase): boolean {
  const same = cases.filter(({ fault, wire }) => fault === each.fault && wire === each.wire)
  return creates.has(each.fault) || same[rowNumber.get(each.fault)! % same.length] === each
}

/** Every row at every upstream on one engine, and once on the other: upstreams do not know which it is. */
const casesOn = (engine: string): TaskCase[] => {
  if (engine !== 'sqlite') return cases.filter(({ fault }, i) => cases[i - 1]?.fault !== fault)
  return isFull ? cases : cases.filter(isTried)
}

describe.each([...storeKinds])('faults of tasks on %s', (engine) => {
  let stage: TaskStage
  let trap: Server
  let trapped = 0
  let baseSockets = 0

  beforeAll(async () => {
    trap = createServer((socket) => {
      trapped++
      socket.destroy()
    })
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.2', resolve))
    stage = await openTaskStage(engine, declare)
    stage.trapPort = (trap.address() as { port: number }).port
    baseSockets = openSockets()
  })
  afterAll(async () => {
    await stage.close()
    await new Promise<void>((resolve) => trap.close(() => resolve()))
  })

  test.each(casesOn(engine).map((each): [string, TaskCase] => [each.title, each]))(
    '%s',
    async (_, made) => {
      const run = new TaskRun(made, stage)
      const scene = sceneOf(made, stage)
      const script = { ...soundScript(scene), ...made.fault.script?.(scene) }
      stage.upstream.play(made.name, made.wire, script)
      stage.elsewhere.play(made.name, made.wire, script)
      try {
        await (made.fault.course ?? usualCourse)(run)
        await checkTaskRun(run)
      } finally {
        run.close()
        await endAll(stage)
      }
    },
  )

  test('nobody was sent to where a redirect of an API led, nor to a forbidden address', () => {
    expect(stage.upstream.asked('trap')).toEqual([])
    expect(trapped).toBe(0)
  })

  test('every upstream was asked with its own key and nothing else of ours', () => {
    for (const { name, token } of cases) {
      const asked = [...stage.upstream.asked(name), ...stage.elsewhere.asked(name)]
      for (const { head, body } of asked) expect(head + body).not.toContain(token)
    }
  })

  test('the log of the gateway names no key', () => {
    const log = stage.log()
    expect([log.length > 0, log.includes(canary.slice(-8))]).toEqual([true, false])
  })

  test('the books are right and nothing is held', async () => {
    expect(await stage.admin('POST', '/audit')).toMatchObject({ ok: true, problems: [] })
    const { items } = await stage.admin('GET', '/accounts?limit=500')
    expect((items as { held: string }[]).filter(({ held }) => held !== '0.00')).toEqual([])
  })

  test('no socket is left open', async () => {
    const open = () => stage.upstream.openSockets() + stage.elsewhere.openSockets()
    const state = () => [open(), Math.max(0, openSockets() - baseSockets)]
    await until(
      'the sockets to be closed',
      () => state().every((count) => count === 0) || undefined,
    ).catch(() => expect(state()).toEqual([0, 0]))
  })
})

/** A case that failed half way must not leave work to the next. */
async function endAll(stage: TaskStage): Promise<void> {
  const dayMs = 24 * 3_600_000
  for (let i = 0; i < 3 && (await stage.isBusy()); i++) await stage.poll(2 * dayMs)
}
