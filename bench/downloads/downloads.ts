// Memory of one gateway process while many callers download large videos slower than they arrive, and
// while callers stop reading. Each on a gateway of its own.

import type { Child } from '../lib/children.ts'
import { callerConfig, callerToken } from '../lib/gateway-config.ts'
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
import { memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { countUntilSteady } from '../lib/until-steady.ts'
import type { SlowCommand, SlowResult } from '../load/slow-load.ts'
import type { FileCommand, FilesSent } from '../upstreams/file-upstream.ts'
import { checkDownloads, type DownloadFigures, formatDownloads } from './report.ts'

const count = 100
const fileBytes = 300_000_000
const bytesPerSecond = 1_000_000
const slowSeconds = 15
/** The buffers of the kernel are full when nothing was taken for this long. */
const steadySeconds = 4
const settleSeconds = 40
const warmUpSeconds = 30
const quietMs = 1500
const askMs = 20_000
const model = 'vendorg-video-1'

export const downloadsSeconds = slowSeconds + settleSeconds + 2 * warmUpSeconds + 20

export async function runDownloads(run: Run): Promise<PartResult> {
  const slow = await measure(run, 'slow')
  await stopAll(run)
  const stopped = await measure(run, 'stopped')
  const all = [slow, stopped]
  return {
    setting:
      `downloads: ${count} at once of ${fileBytes / 1_000_000} MB, at ` +
      `${bytesPerSecond / 1_000_000} MB/s for ${slowSeconds} s; then by readers that stop`,
    tables: [formatDownloads(all)],
    verdicts: all.flatMap(checkDownloads),
    failed: slow.failed + stopped.failed,
    figures: { downloads: all },
  }
}

async function measure(run: Run, readers: DownloadFigures['readers']): Promise<DownloadFigures> {
  const own = workspaceFor(run, `downloads-${readers}`)
  const upstream = startProgram(own, 'upstreams/file-upstream', String(fileBytes))
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const gateway = await startGateway(workspace, run.options.gatewayCommand, [], {
    config: configFor(workspace.upstreamPort),
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' },
  })
  const load = startProgram(own, 'load/slow-load')
  const url = `http://127.0.0.1:${gateway.port}/v1/videos/${await makeVideo(gateway)}/content`
  const baseBytes = await warmBase(gateway, url)
  await ask<FilesSent>(upstream, { command: 'count', forget: true } satisfies FileCommand, askMs)
  note(`downloads: ${count} ${readers} readers ...`)
  const peakMemory = watchPeakMemory(gateway)
  const open: SlowCommand = {
    command: 'open',
    port: gateway.port,
    request: requestFor(url),
    readers: count,
    bytesPerSecond: readers === 'slow' ? bytesPerSecond : 0,
  }
  await ask<SlowResult>(load, open, askMs)
  const sent = await (readers === 'slow'
    ? sentAfter(upstream)
    : countUntilSteady<FilesSent>(upstream, { steadySeconds, maxSeconds: settleSeconds }))
  const rssBytes = peakMemory()
  const result = await ask<SlowResult>(load, { command: 'count' } satisfies SlowCommand, askMs)
  if (result.failed > 0) note(`downloads: ${result.failed} failed: ${result.firstFailure}`)
  await ask<SlowResult>(load, { command: 'close' } satisfies SlowCommand, askMs)
  return {
    ...{ readers, count, fileBytes, baseBytes, rssBytes },
    reached: sent.videos,
    failed: result.failed,
    minBytes: result.minBytes,
    takenMedianBytes: sent.medianBytes,
    takenMaxBytes: sent.maxBytes,
    grownBytes: sent.grownBytes,
  }
}

const configFor = (port: number): object => ({
  ...callerConfig,
  channels: [
    {
      name: 'files',
      keys: ['bench-upstream-key'],
      protocols: { vendorg: `http://127.0.0.1:${port}` },
      models: { [model]: '*' },
    },
  ],
})

const requestFor = (url: string): string => {
  const { host, pathname } = new URL(url)
  const head = `Host: ${host}\r\nAuthorization: Bearer ${callerToken}\r\n`
  return `GET ${pathname} HTTP/1.1\r\n${head}\r\n`
}

async function makeVideo({ port, headers }: Target): Promise<string> {
  const url = `http://127.0.0.1:${port}/v1/videos`
  const body = JSON.stringify({ model, prompt: 'a video', seconds: '4' })
  const json = { ...headers, 'content-type': 'application/json' }
  const created = await fetch(url, { method: 'POST', headers: json, body })
  const { id } = (await created.json()) as { id?: string }
  for (const untilMs = performance.now() + askMs; performance.now() < untilMs; ) {
    const polled = await fetch(`${url}/${id}`, { headers })
    const { status } = (await polled.json()) as { status?: string }
    if (id !== undefined && status === 'completed') return id
    await Bun.sleep(quietMs / 10)
  }
  throw new Error('the video was not made in time')
}

/** Memory of a gateway that has served one whole video, as fast as it was read. */
async function warmBase(gateway: Target, url: string): Promise<number> {
  const signal = AbortSignal.timeout(warmUpSeconds * 1000)
  const response = await fetch(url, { headers: gateway.headers, signal })
  let got = 0
  for await (const bytes of response.body ?? []) got += bytes.byteLength
  if (got !== fileBytes) throw new Error(`the video has ${got} bytes: status ${response.status}`)
  await Bun.sleep(quietMs)
  return memory(gateway.pids).rssBytes
}

type Sent = FilesSent & { grownBytes: number }

async function sentAfter(upstream: Child): Promise<Sent> {
  const before = await ask<FilesSent>(upstream, { command: 'count' } satisfies FileCommand, askMs)
  await Bun.sleep(slowSeconds * 1000)
  const now = await ask<FilesSent>(upstream, { command: 'count' } satisfies FileCommand, askMs)
  return { ...now, grownBytes: now.totalBytes - before.totalBytes }
}
