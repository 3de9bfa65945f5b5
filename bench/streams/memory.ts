// Memory of one gateway process: thousands of slow streams that are all read, and hundreds of fast
// ones that no caller reads. Each on a gateway of its own, so that neither inherits the other's heap.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  stopAll,
  workspaceFor,
} from '../lib/part.ts'
import { watchPeakMemory } from '../lib/peak-memory.ts'
import { maxOpenFiles, memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { countUntilSteady } from '../lib/until-steady.ts'
import type { HeldCommand, HeldResult, Listened } from '../load/held-load.ts'
import type { LoadCommand, LoadResult } from '../load/load.ts'
import { rawRequest } from '../load/slice.ts'
import { payloads } from '../payload/index.ts'
import type { Flooded, PaceCommand } from '../upstreams/paced-upstream.ts'
import {
  checkSlow,
  checkStalled,
  formatSlow,
  formatStalled,
  type SlowFigures,
  type StalledFigures,
} from './memory-report.ts'

const slowStreams = 5000
const slowPace = { firstMs: 200, everyMs: 1000 }
const listenSeconds = 20
const stalledCallers = 500
const floodBytes = 100 * 1024 * 1024
/** The buffers of the kernel are full when nothing was taken for this long. */
const steadySeconds = 5
/** Less than a caller that does not read may stay. */
const settleSeconds = 35
const warmUpSeconds = 6
const warmUpPace = { firstMs: 20, everyMs: 50, tokens: 10 }
const quietMs = 1500
const openMs = 60_000
const finishMs = 20_000
/** Two for every stream, and the gateway's own. */
const filesNeeded = 2 * slowStreams + 200

export const memorySeconds =
  (openMs + finishMs) / 1000 + listenSeconds + warmUpSeconds + settleSeconds + 30

export async function runMemory(run: Run): Promise<PartResult> {
  const files = maxOpenFiles()
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
    verdicts: [...checkSlow(slow), ...checkStalled(stalled)],
    charges: [charges],
    failed: slow.failed,
    figures: { slow, stalled },
  }
}

async function setUp(run: Run, name: string) {
  const own = workspaceFor(run, name)
  const upstream = startProgram(own, 'upstreams/paced-upstream')
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const gateway = await startGateway(workspace, run.options.gatewayCommand)
  const pace = (command: PaceCommand) => upstream.send(JSON.stringify(command))
  return { own, upstream, gateway, pace, held: startProgram(own, 'load/held-load') }
}

const chatStream = (
  target: Target,
): Pick<LoadCommand, 'port' | 'request'> & { endMark: string } => ({
  port: target.port,
  request: rawRequest(target, { style: 'chat', mode: 'stream' }),
  endMark: payloads.chat.stream!.endMark,
})

async function runSlow(run: Run): Promise<{ slow: SlowFigures; charges: Charges }> {
  const { gateway, pace, held } = await setUp(run, 'slow')
  pace({ command: 'pace', ...slowPace })
  const before = await readBalance(gateway)
  const baseBytes = memory(gateway.pids).rssBytes
  note(`memory: opening ${slowStreams} slow streams ...`)
  const command: HeldCommand = { command: 'hold', ...chatStream(gateway), streams: slowStreams }
  const opened = await ask<HeldResult>(held, command, openMs)
  note(`memory: ${opened.open} open, ${opened.failed} failed ${opened.firstFailure ?? ''}`)
  const peakMemory = watchPeakMemory(gateway)
  const listened = await ask<Listened>(
    held,
    { command: 'listen', seconds: listenSeconds },
    listenSeconds * 1000 + finishMs,
  )
  const rssBytes = peakMemory()
  const { peakBytes } = memory(gateway.pids)
  pace({ command: 'end' })
  const ended = await ask<HeldResult>(
    held,
    { command: 'finish', timeoutMs: finishMs },
    finishMs + 1000,
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
    delayMaxMs: listened.maxMs,
    failed: ended.failed,
  }
  return { slow, charges: countCharges(before, await readBalance(gateway), 'stream', ended.ended) }
}

async function runStalled(run: Run): Promise<StalledFigures> {
  const { own, upstream, gateway, pace, held } = await setUp(run, 'stalled')
  const baseBytes = await warmBase(startProgram(own, 'load/load'), gateway, pace)
  pace({ command: 'flood', bytes: floodBytes })
  note(`memory: ${stalledCallers} callers that do not read ...`)
  const peakMemory = watchPeakMemory(gateway)
  const { port, request } = chatStream(gateway)
  const command: HeldCommand = { command: 'stall', port, request, streams: stalledCallers }
  const opened = await ask<HeldResult>(held, command, openMs)
  if (opened.failed > 0) note(`memory: ${opened.failed} failed: ${opened.firstFailure}`)
  const flooded = await countUntilSteady<Flooded>(upstream, {
    steadySeconds,
    maxSeconds: settleSeconds,
  })
  const rssBytes = peakMemory()
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
    acceptedMaxBytes: flooded.maxBytes,
    grownBytes: flooded.grownBytes,
  }
}

/** Memory of a gateway that has just served as many callers as will stall, and who did read. */
async function warmBase(
  load: Child,
  gateway: Target,
  pace: (command: PaceCommand) => void,
): Promise<number> {
  pace({ command: 'pace', ...warmUpPace })
  const command: LoadCommand = {
    ...chatStream(gateway),
    minBodyBytes: 1,
    connections: stalledCallers,
    seconds: warmUpSeconds,
    spreadMs: 1000,
  }
  const warm = await ask<LoadResult>(load, command, warmUpSeconds * 1000 + finishMs)
  if (warm.failed > 0) throw new Error(`${warm.failed} calls failed: ${warm.firstFailure}`)
  await Bun.sleep(quietMs)
  return memory(gateway.pids).rssBytes
}
