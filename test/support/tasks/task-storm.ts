// The task storm: gateways that keep dying on one store while tasks in every dialect go through
// them, and then the quiet in which everything has to end. Judges nothing.
import type { LoggedCall } from '../../../sandbox/http/call-log.ts'
import type { Sandbox } from '../../../sandbox/server.ts'
import type { ListedTask } from '../../../sandbox/tasks/task-memory.ts'
import { loggedCalls } from '../../../sandbox/testing.ts'
import type { CrashAt, CrashPoint } from '../../../src/lib/crash-point.ts'
import type { Place } from '../../../src/store/test-stores.ts'
import { freePort } from '../free-port.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../gateway.ts'
import { startKilling } from '../load/killing.ts'
import { sandboxTasks } from '../sandbox-tasks.ts'
import { seeded } from '../seeded.ts'
import {
  isOver,
  isRefusedCreate,
  readTaskLedger,
  readTasks,
  type TaskEntry,
  type TaskRow,
} from '../task-books.ts'
import { dialectsOf } from './task-dialects.ts'
import { pollAtOne, runTaskLoad, type TaskLoad } from './task-load.ts'
import { type Notice, openReceiver, untilTold } from './task-notices.ts'
import { drawInputs, neededFor } from './task-wishes.ts'

export interface StormPlan {
  place: Place
  sandbox: Sandbox
  gateways: number
  /** Results are copied to the data directory. */
  keepsMedia: boolean
  tasks: number
  randomKills: number
  /** Every how-manieth life of a gateway ends at a point. */
  plannedEvery: number
  points: readonly CrashPoint[]
  /** Points that are passed only when there is nothing else to do. */
  quietPoints: readonly CrashPoint[]
  seed: number
}

export interface Aftermath {
  load: TaskLoad
  randomKills: number
  struck: readonly CrashPoint[]
  missed: readonly CrashPoint[]
  rows: readonly TaskRow[]
  entries: readonly TaskEntry[]
  /** The upstream's own account: every task by its id, and every call. */
  truth: ReadonlyMap<string, ListedTask>
  upstreamCalls: readonly LoggedCall[]
  fresh: readonly TestGateway[]
  /** What the receiver of callbacks accepted. */
  notices: readonly Notice[]
  stormSeconds: number
  quietSeconds: number
}

export const openingBalance = '20000.00'
/** Leases of the dead run out, and doubts take their time; then whatever lives on is a failure. */
const maxQuietMs = 90_000
/** Credit that nobody spends goes back long before this. */
const maxIdleMs = 20_000
const quietPauseMs = 500
const pollsAtOnce = 8

const configFor = ({ sandbox, keepsMedia }: StormPlan) => `
accounts: [{ name: acme, balance: "${openingBalance}" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
tasks: { unknown_for: 4s, lost_after: 4s, lifetime: 10m }
${keepsMedia ? 'media: { keep: data, budget: 1GB }' : ''}
channels:
  - name: upstream
    keys: [sk-upstream-0123456789, sk-upstream-9876543210]
    protocols: ${JSON.stringify(sandbox.protocols)}
    models: { vfa-2.7-t2v: "*", vidmodel-1-0-pro: "*", vendorg-video-1: "*", imgvendor-v2: "*", txta-plus: "*" }
`

/** Always at the same address, on the same store; several share nothing else. */
async function prepareGateway(plan: StormPlan) {
  const port = freePort()
  const { databaseUrl } = plan.place.options
  const dataDir = databaseUrl === undefined ? plan.place.options.dataDir : tempDir()
  const env = {
    GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
    GATEWAY_MASTER_KEY: '0123456789abcdef'.repeat(4),
    ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
  }
  const config = configFor(plan)
  return {
    url: `http://127.0.0.1:${port}`,
    start: (more: Record<string, string> = {}) =>
      startGateway({ config, dataDir, port, env: { ...env, ...more } }),
  }
}

/** What is passed often is not always struck the first time. */
const crashAt = (point: CrashPoint, random: () => number): CrashAt => ({
  point,
  time: point.startsWith('task-') && !neededFor[point] ? 1 + Math.floor(random() * 3) : 1,
})

export async function runStorm(plan: StormPlan): Promise<Aftermath> {
  const random = seeded(plan.seed)
  const beganMs = performance.now()
  const receiver = openReceiver()
  const callbackUrl = receiver.url
  const inputs = drawInputs(plan.tasks, random).map((input) => ({ ...input, callbackUrl }))
  const crashes = plan.points.map((point) => crashAt(point, random))
  const prepared = []
  for (let i = 0; i < plan.gateways; i++) prepared.push(await prepareGateway(plan))
  const { plannedEvery } = plan
  const stretch = Math.max(2, plan.gateways)
  const homes = prepared.map(({ url, start }) => ({
    url,
    lives: startKilling(start, random, { plan: crashes, plannedEvery, stretch }),
  }))
  const broken = Promise.race(homes.map(({ lives }) => lives.broken))
  // The last point must not find everybody gone.
  const few = Math.min(plan.points.length, plan.randomKills)
  const lives = Math.max(plan.randomKills, plannedEvery * plan.points.length) + few
  const load = await Promise.race([runTaskLoad({ homes, inputs, lives, random }), broken])
  const killed = () => homes.reduce((sum, home) => sum + home.lives.random(), 0)
  while (crashes.length > 0 || killed() < plan.randomKills) {
    await Promise.race([Bun.sleep(quietPauseMs), broken])
  }
  await Promise.all(homes.map((home) => home.lives.end()))
  const stormSeconds = (performance.now() - beganMs) / 1000
  const [first, ...others] = prepared
  const opened = Promise.all(others.map(({ start }) => start()))
  const quiet = await dieInQuiet(plan.quietPoints, first!.start)
  const fresh = [await first!.start(), ...(await opened)]
  const rows = await untilOver(fresh[0]!)
  await pollAtAll(load, fresh, rows)
  await untilTold(fresh[0]!, rows)
  await receiver.stop()
  const tasks = await sandboxTasks(plan.sandbox)
  return {
    load,
    randomKills: killed(),
    struck: [...homes.flatMap((home) => home.lives.struck), ...quiet],
    missed: homes.flatMap((home) => home.lives.missed),
    rows,
    entries: await readTaskLedger(fresh[0]!),
    truth: new Map(tasks.map((task) => [task.id, task])),
    upstreamCalls: await loggedCalls(plan.sandbox),
    fresh,
    notices: receiver.notices,
    stormSeconds,
    quietSeconds: (performance.now() - beganMs) / 1000 - stormSeconds,
  }
}

/** One call each, and then nothing, until it dies by itself; gives the points where that happened. */
async function dieInQuiet(
  points: readonly CrashPoint[],
  start: (env: Record<string, string>) => Promise<TestGateway>,
): Promise<CrashPoint[]> {
  const struck: CrashPoint[] = []
  for (const point of points) {
    const gateway = await start({ GATEWAY_CRASH_AT: point })
    await gateway.chat('the last one for now').then((response) => response.text())
    await Promise.race([gateway.exited, Bun.sleep(maxIdleMs)])
    if (gateway.hasExited()) struck.push(point)
    await gateway.stop('SIGKILL')
  }
  return struck
}

async function untilOver(gateway: TestGateway): Promise<TaskRow[]> {
  const untilMs = Date.now() + maxQuietMs
  let rows = await readTasks(gateway)
  while (!rows.every(isOver) && Date.now() < untilMs) {
    await Bun.sleep(quietPauseMs)
    rows = await readTasks(gateway)
  }
  return rows
}

/** Every task in every dialect, at any of the gateways. */
async function pollAtAll(load: TaskLoad, fresh: readonly TestGateway[], rows: readonly TaskRow[]) {
  const visible = rows.filter((row) => !isRefusedCreate(row))
  const polls = visible.flatMap(({ id }) => dialectsOf(id).map((dialect) => ({ id, dialect })))
  const pollTarget = async (first: number) => {
    for (let i = first; i < polls.length; i += pollsAtOnce) {
      const { id, dialect } = polls[i]!
      await pollAtOne(load, fresh[i % fresh.length]!.url, dialect, id)
    }
  }
  await Promise.all(Array.from({ length: pollsAtOnce }, (_, first) => pollTarget(first)))
}
