// Memory of one gateway process: thousands of slow streams that are all read, and hundreds of fast
// ones that nobody reads. Each on a gateway of its own, so that neither inherits the other's heap.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import {
  ask,
  note,
  type PartResult,
  placeFor,
  portOf,
  type Run,
  startOwn,
  stopAll,
} from '../lib/part.ts'
import { memory, mostOpenFiles } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { HeldOrder, HeldResult, Listened } from '../load/held-load.ts'
import type { LoadOrder, LoadResult } from '../load/load.ts'
import { rawRequest } from '../load/slice.ts'
import { payloads } from '../payload/index.ts'
import type { Flooded, PaceOrder } from '../upstreams/paced-upstream.ts'
import {
  formatSlow,
  formatStalled,
  judgeSlow,
  judgeStalled,
  type SlowFigures,
  type StalledFigures,
} from './memory-report.ts'

const slowStreams = 5000
const slowPace = { firstMs: 200, everyMs: 1000 }
const listenSeconds = 20
const stalledCallers = 500
const floodBytes = 100 * 1024 * 1024
/** First the buffers of the kernel fill. They stand when nothing was taken for so long. */
const standSeconds = 5
/** Less than a caller that does not read may stay. */
const settleSeconds = 35
const warmUpSeconds = 6
const warmUpPace = { firstMs: 20, everyMs: 50, tokens: 10 }
const quietMs = 1500
const sampleMs = 250
const openMs = 60_000
const finishMs = 20_000
/** Two for every stream, and the gateway's own. */
const filesNeeded = 2 * slowStreams + 200

export const memorySeconds =
  (openMs + finishMs) / 1000 + listenSeconds + warmUpSeconds + settleSeconds + 30

export async function runMemory(run: Run): Promise<PartResult> {
  const files = mostOpenFiles()
  if (files < filesNeeded) {
    throw new Error(`memory needs ${filesNeeded} open files, the hard limit is ${files}`)
  }
  const { slow, charges } = await runSlow(run)
  await stopAll(run)
  const stalled = await runStalled(run)
  return {
    setting:
      `memory: ${slowStreams} streams of one token a second, for ${listenSeconds} s; then ` +
      `${stalledCallers} callers that never read,\n        while the upstream pushes up to ` +
      `${floodBytes / 1024 / 1024} MiB into each`,
    tables: [formatSlow(slow), formatStalled(stalled)],
    verdicts: [...judgeSlow(slow), ...judgeStalled(stalled)],
    charges: [charges],
    failed: slow.failed,
    figures: { slow, stalled },
  }
}

async function startScene(run: Run, name: string) {
  const own = placeFor(run, name)
  const upstream = startOwn(own, 'upstreams/paced-upstream')
  const place = { ...own, upstreamPort: await portOf(upstream) }
  const gateway = await startGateway(place, run.options.gatewayCommand)
  const pace = (order: PaceOrder) => upstream.tell(JSON.stringify(order))
  return { own, upstream, gateway, pace, held: startOwn(own, 'load/held-load') }
}

/** Follows the memory of a process; gives the largest seen. */
function watch(target: Target): () => number {
  let largest = 0
  const sample = () => {
    if (target.child.obituary() !== undefined) return
    largest = Math.max(largest, memory(target.pids).rssBytes)
  }
  const timer = setInterval(sample, sampleMs)
  return () => {
    clearInterval(timer)
    sample()
    return largest
  }
}

function mustLive(target: Target): void {
  const obituary = target.child.obituary()
  if (obituary !== undefined) throw new Error(`under many streams ${obituary}`)
}

const chatStream = (target: Target): Pick<LoadOrder, 'port' | 'request'> & { endMark: string } => ({
  port: target.port,
  request: rawRequest(target, { style: 'chat', mode: 'stream' }),
  endMark: payloads.chat.stream!.endMark,
})

async function runSlow(run: Run): Promise<{ slow: SlowFigures; charges: Charges }> {
  const { gateway, pace, held } = await startScene(run, 'slow')
  pace({ order: 'pace', ...slowPace })
  const before = await readBalance(gateway)
  const baseBytes = memory(gateway.pids).rssBytes
  note(`memory: opening ${slowStreams} slow streams ...`)
  const order: HeldOrder = { order: 'hold', ...chatStream(gateway), streams: slowStreams }
  const opened = await ask<HeldResult>(held, order, openMs)
  note(`memory: ${opened.open} open, ${opened.failed} failed ${opened.firstFailure ?? ''}`)
  const largest = watch(gateway)
  const listened = await ask<Listened>(
    held,
    { order: 'listen', seconds: listenSeconds },
    listenSeconds * 1000 + finishMs,
  )
  const rssBytes = largest()
  mustLive(gateway)
  const { peakBytes } = memory(gateway.pids)
  pace({ order: 'end' })
  const ended = await ask<HeldResult>(
    held,
    { order: 'finish', timeoutMs: finishMs },
    finishMs + sampleMs * 4,
  )
  if (ended.failed > 0) note(`memory: ${ended.failed} failed: ${ended.firstFailure}`)
  const slow: SlowFigures = {
    streams: slowStreams,
    held: listened.open,
    baseBytes,
    rssBytes,
    peakBytes: Math.max(rssBytes, peakBytes),
    tokens: listened.tokens,
    delayP50Ms: listened.p50Ms,
    delayP99Ms: listened.p99Ms,
    delayLargestMs: listened.largestMs,
    failed: ended.failed,
  }
  return { slow, charges: countCharges(before, await readBalance(gateway), 'stream', ended.ended) }
}

async function runStalled(run: Run): Promise<StalledFigures> {
  const { own, upstream, gateway, pace, held } = await startScene(run, 'stalled')
  const baseBytes = await warmBase(startOwn(own, 'load/load'), gateway, pace)
  pace({ order: 'flood', bytes: floodBytes })
  note(`memory: ${stalledCallers} callers that do not read ...`)
  const largest = watch(gateway)
  const { port, request } = chatStream(gateway)
  const order: HeldOrder = { order: 'stall', port, request, streams: stalledCallers }
  const opened = await ask<HeldResult>(held, order, openMs)
  if (opened.failed > 0) note(`memory: ${opened.failed} failed: ${opened.firstFailure}`)
  const flooded = await waitUntilStanding(upstream)
  const rssBytes = largest()
  mustLive(gateway)
  const { peakBytes } = memory(gateway.pids)
  // First the upstream: a gateway that is told to stop reads abandoned streams to their end.
  await upstream.stop()
  return {
    callers: stalledCallers,
    reached: flooded.streams,
    baseBytes,
    rssBytes,
    peakBytes: Math.max(rssBytes, peakBytes),
    acceptedMedianBytes: flooded.medianBytes,
    acceptedLargestBytes: flooded.largestBytes,
    grownBytes: flooded.grownBytes,
  }
}

/** Looks every second, until nothing has been taken for a while or the time is up. */
async function waitUntilStanding(upstream: Child): Promise<Flooded & { grownBytes: number }> {
  const looks: Flooded[] = []
  for (;;) {
    const now = await ask<Flooded>(upstream, { order: 'count' }, finishMs)
    const earlier = looks.at(-standSeconds)
    const grownBytes = now.totalBytes - (earlier?.totalBytes ?? 0)
    looks.push(now)
    if (earlier !== undefined && (grownBytes === 0 || looks.length > settleSeconds)) {
      return { ...now, grownBytes }
    }
    await Bun.sleep(1000)
  }
}

/** Memory of a gateway that has just served as many callers as will stall, and who did read. */
async function warmBase(
  load: Child,
  gateway: Target,
  pace: (order: PaceOrder) => void,
): Promise<number> {
  pace({ order: 'pace', ...warmUpPace })
  const order: LoadOrder = {
    ...chatStream(gateway),
    leastBodyBytes: 1,
    connections: stalledCallers,
    seconds: warmUpSeconds,
    spreadMs: 1000,
  }
  const warm = await ask<LoadResult>(load, order, warmUpSeconds * 1000 + finishMs)
  if (warm.failed > 0) throw new Error(`${warm.failed} calls failed: ${warm.firstFailure}`)
  await Bun.sleep(quietMs)
  return memory(gateway.pids).rssBytes
}
