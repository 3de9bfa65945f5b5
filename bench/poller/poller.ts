// Tasks in flight: how soon the gateway notices that they have ended, how often it polls for that, and how
// long it takes to start with very many of them. Refuses to know how the poller works.

import { join } from 'node:path'
import type { VideoTask } from '../../src/contract/task.ts'
import { newId } from '../../src/lib/crypto/ids.ts'
import { createHttpClient } from '../../src/lib/http/client.ts'
import { findAccount } from '../../src/store/catalog/accounts.ts'
import { openStore } from '../../src/store/index.ts'
import { listTaskRows } from '../../src/store/tasks/list-tasks.ts'
import { insertTask } from '../../src/store/tasks/tasks.ts'
import { type Balance, type Charges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { account, adminToken, callerConfig } from '../lib/gateway-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { cpuMicros, memory } from '../lib/proc.ts'
import { startGateway, type Target, type Workspace } from '../lib/targets.ts'
import type { Options } from '../options.ts'
import type { Ends, PollCounts, TaskCommand } from '../upstreams/task-upstream.ts'
import {
  checkPoller,
  checkStart,
  formatPoller,
  formatStart,
  type Noticed,
  type PollerFigures,
  type StartFigures,
  summariseNoticed,
} from './report.ts'

const model = 'vfa-2.7-t2v'
const channel = 'videos'
const videoSeconds = 5
const createSeconds = 40
const minMs = 45_000
const maxMs = 75_000
/** For the last one to be noticed. */
const restSeconds = 60
const rowsPerTask = 10
const rowsPerInsert = 1000
const insertSeconds = 120
const watchSeconds = 10
const sampleMs = 250
const askMs = 20_000
const pageRows = 1000
const maxAnswerBytes = 65_536

export const pollerSeconds = createSeconds + maxMs / 1000 + restSeconds + insertSeconds

const config = (upstreamPort: number): object => ({
  region: 'cn',
  currency: 'CNY',
  ...callerConfig,
  channels: [
    {
      name: channel,
      region: 'cn',
      keys: ['bench-upstream-key'],
      protocols: { vf: `http://127.0.0.1:${upstreamPort}` },
      models: { [model]: '*' },
      max_concurrency: 100_000,
    },
  ],
  prices: [{ model, unit: 'video_second', per_second: { '720p': '1.00', '1080p': '1.00' } }],
})

async function setUp(run: Run, name: string) {
  const own = workspaceFor(run, name)
  const upstream = startProgram(own, 'upstreams/task-upstream')
  const workspace: Workspace = { ...own, upstreamPort: await portOf(upstream) }
  const start = () =>
    startGateway(workspace, run.options.gatewayCommand, [], {
      config: config(workspace.upstreamPort),
    })
  const openRows = () => openStore({ dataDir: join(workspace.tempDir, 'data') })
  return { upstream, start, openRows }
}

type Setup = Awaited<ReturnType<typeof setUp>>

export async function runPoller(run: Run): Promise<PartResult> {
  const { tasks } = run.options
  const flown = await runFlight(await setUp(run, 'poller'), run.options)
  const start = await runStart(await setUp(run, 'poller-start'), tasks * rowsPerTask)
  return {
    setting:
      `poller: ${tasks} tasks of ${minMs / 1000} to ${maxMs / 1000} s, created in ` +
      `${createSeconds} s; every answer of the upstream takes 200 ms.\n        Then a start with ` +
      `${tasks * rowsPerTask} tasks in flight, all of them due`,
    tables: [formatPoller(flown.figures), formatStart(start)],
    verdicts: [...checkPoller(flown.figures), ...checkStart(start)],
    charges: [flown.charges],
    failed: flown.failed,
    figures: { poller: flown.figures, start },
  }
}

const send = (upstream: Child, command: TaskCommand) => upstream.send(JSON.stringify(command))

async function runFlight({ upstream, start, openRows }: Setup, { tasks }: Options) {
  send(upstream, { command: 'plan', minMs, maxMs })
  const gateway = await start()
  const before = await readBalance(gateway)
  const cpuBefore = cpuMicros(gateway.pids)
  const startMs = Date.now()
  note(`poller: creating ${tasks} tasks ...`)
  const failed = await createAll(gateway, tasks)
  note(`poller: created, ${failed} failed; waiting for their ends ...`)
  const endedMs = await waitForEnds(gateway)
  const busySeconds = (endedMs - startMs) / 1000
  const cpuPercent = (cpuMicros(gateway.pids) - cpuBefore) / 10_000 / busySeconds
  const { peakBytes } = memory(gateway.pids)
  const charges = chargesOf(before, await readBalance(gateway), tasks - failed)
  const asked = await ask<PollCounts>(upstream, { command: 'count' }, askMs)
  const ends = await ask<Ends>(upstream, { command: 'ends' }, askMs)
  await gateway.child.stop()
  const { noticed, maxInFlight } = await readNoticed(openRows, ends)
  const figures: PollerFigures = {
    ...summariseNoticed(noticed),
    maxInFlight,
    pollsPerSecond: asked.polls / busySeconds,
    maxConcurrentPolls: asked.maxConcurrentPolls,
    peakBytes,
    cpuPercent,
  }
  return { figures, failed, charges }
}

/** Evenly spread over the time, whatever becomes of each; gives how many were refused. */
async function createAll(gateway: Target, tasks: number): Promise<number> {
  const url = `http://127.0.0.1:${gateway.port}/v1/videos`
  const headers = { ...gateway.headers, 'content-type': 'application/json' }
  const body = JSON.stringify({ model, prompt: 'a cat on a mat', seconds: String(videoSeconds) })
  // Leaner than `fetch`: this process shares the machine with what it measures.
  const client = createHttpClient()
  const create = async () => {
    const answer = await client.post(url, headers, body, { connectMs: askMs }).answer
    await answer.text(maxAnswerBytes)
    return answer.status === 200
  }
  const startMs = performance.now()
  const created: Promise<boolean>[] = []
  for (let i = 0; i < tasks; i++) {
    const waitMs = startMs + (createSeconds * 1000 * i) / tasks - performance.now()
    if (waitMs > 1) await Bun.sleep(waitMs)
    created.push(create().catch(() => false))
  }
  const good = (await Promise.all(created)).filter(Boolean).length
  client.close()
  return tasks - good
}

/** When no task is live any more, or the time is up. */
async function waitForEnds(gateway: Target): Promise<number> {
  const untilMs = Date.now() + maxMs + restSeconds * 1000
  const headers = { authorization: `Bearer ${adminToken}` }
  const isLive = async (state: string) => {
    const url = `http://127.0.0.1:${gateway.port}/admin/v1/tasks?limit=1&state=${state}`
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(askMs) })
    return ((await answer.json()) as { items: unknown[] }).items.length > 0
  }
  await Bun.sleep(maxMs - createSeconds * 1000)
  while (Date.now() < untilMs && ((await isLive('running')) || (await isLive('queued')))) {
    await Bun.sleep(1000)
  }
  return Date.now()
}

function chargesOf(before: Balance, after: Balance, served: number): Charges {
  if ('unknown' in before) return { served, problem: before.unknown }
  if ('unknown' in after) return { served, problem: after.unknown }
  return { served, charged: Number(before.nanos - after.nanos) / (videoSeconds * 1e9) }
}

/** What the rows say, beside what the upstream says. */
async function readNoticed(openRows: Setup['openRows'], ends: Ends) {
  const store = await openRows()
  const noticed: Noticed[] = []
  const moments: [number, number][] = []
  let cursor: string | undefined
  do {
    const page = await listTaskRows(store.read, { limit: pageRows, cursor })
    for (const task of page.items) {
      const end = ends[task.upstreamId ?? '']
      if (end === undefined) continue
      noticed.push({ ...end, finishedMs: task.finishedAtMs })
      moments.push([task.createdAtMs, 1], [end.endMs, -1])
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  await store.close()
  return { noticed, maxInFlight: maxConcurrent(moments) }
}

/** How many lived at the same time. */
function maxConcurrent(moments: readonly [number, number][]): number {
  let inFlight = 0
  let maxInFlight = 0
  for (const [, change] of moments.toSorted(([a], [b]) => a - b)) {
    inFlight += change
    maxInFlight = Math.max(maxInFlight, inFlight)
  }
  return maxInFlight
}

async function runStart({ upstream, start, openRows }: Setup, rows: number): Promise<StartFigures> {
  // Once without them, for the account and the channel to be there.
  const first = await start()
  await first.child.stop()
  note(`poller: inserting ${rows} tasks ...`)
  await insertRows(openRows, rows)
  const startMs = performance.now()
  const gateway = await start()
  const readyMs = performance.now() - startMs
  await ask<PollCounts>(upstream, { command: 'count' }, askMs)
  let peakBytes = 0
  for (let waitedMs = 0; waitedMs < watchSeconds * 1000; waitedMs += sampleMs) {
    await Bun.sleep(sampleMs)
    peakBytes = Math.max(peakBytes, memory(gateway.pids).peakBytes)
  }
  const asked = await ask<PollCounts>(upstream, { command: 'count' }, askMs)
  return {
    rows,
    readyMs,
    pollsPerSecond: asked.polls / watchSeconds,
    maxConcurrentPolls: asked.maxConcurrentPolls,
    peakBytes,
  }
}

async function insertRows(openRows: Setup['openRows'], rows: number): Promise<void> {
  const store = await openRows()
  const nowMs = Date.now()
  const owner = await findAccount(store.read, account)
  for (let done = 0; done < rows; done += rowsPerInsert) {
    await store.tx(async (tx) => {
      for (let i = done; i < Math.min(rows, done + rowsPerInsert); i++) {
        await insertTask(tx, rowInFlight(i, nowMs, owner!.id))
      }
    })
  }
  await store.close()
}

const rowInFlight = (i: number, nowMs: number, accountId: string): VideoTask => ({
  kind: 'video',
  id: newId('video', nowMs + i),
  accountId,
  tokenId: 'tok_bench',
  requestId: 'req_bench',
  interface: 'videos',
  model,
  protocol: 'vf',
  // As the gateway names the channels of its file.
  channelId: `file:${channel}`,
  channel,
  upstreamModel: model,
  keyFingerprint: '',
  upstreamId: `start-${i}`,
  state: 'running',
  progress: 30,
  request: { prompt: 'a cat on a mat', seconds: videoSeconds, resolution: '720p', media: [] },
  priceId: 'price_bench',
  holdNanos: 0n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: nowMs - 30_000,
  updatedAtMs: nowMs - 20_000,
  startedAtMs: nowMs - 20_000,
  nextCheckAtMs: nowMs,
  checks: 1,
  misses: 0,
  hidden: false,
})
