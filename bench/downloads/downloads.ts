// Memory of one gateway process while many callers download large films slower than they come, and
// while callers stop reading. Each on a gateway of its own.

import type { Child } from '../lib/children.ts'
import { account, callerToken } from '../lib/gateway-config.ts'
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
import { memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { SlowOrder, SlowResult } from '../load/slow-load.ts'
import type { FileOrder, FilesSent } from '../upstreams/file-upstream.ts'
import { type DownloadFigures, formatDownloads, judgeDownloads } from './report.ts'

const count = 100
const fileBytes = 300_000_000
const bytesPerSecond = 1_000_000
const slowSeconds = 15
/** First the buffers of the kernel fill. They stand when nothing was taken for so long. */
const standSeconds = 4
const settleSeconds = 40
const warmUpSeconds = 30
const quietMs = 1500
const sampleMs = 100
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
    verdicts: all.flatMap(judgeDownloads),
    charges: [],
    failed: slow.failed + stopped.failed,
    figures: { downloads: all },
  }
}

async function measure(run: Run, readers: DownloadFigures['readers']): Promise<DownloadFigures> {
  const own = placeFor(run, `downloads-${readers}`)
  const upstream = startOwn(own, 'upstreams/file-upstream', String(fileBytes))
  const place = { ...own, upstreamPort: await portOf(upstream) }
  const gateway = await startGateway(place, run.options.gatewayCommand, [], {
    config: configFor(place.upstreamPort),
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' },
  })
  const load = startOwn(own, 'load/slow-load')
  const url = `http://127.0.0.1:${gateway.port}/v1/videos/${await makeFilm(gateway)}/content`
  const baseBytes = await warmBase(gateway, url)
  await ask<FilesSent>(upstream, { order: 'count', forget: true } satisfies FileOrder, askMs)
  note(`downloads: ${count} ${readers} readers ...`)
  const largest = watch(gateway)
  const open: SlowOrder = {
    order: 'open',
    port: gateway.port,
    request: requestFor(url),
    readers: count,
    bytesPerSecond: readers === 'slow' ? bytesPerSecond : 0,
  }
  await ask<SlowResult>(load, open, askMs)
  const sent = await (readers === 'slow' ? sentAfter(upstream) : sentStanding(upstream))
  const rssBytes = largest()
  const looked = await ask<SlowResult>(load, { order: 'look' } satisfies SlowOrder, askMs)
  if (looked.failed > 0) note(`downloads: ${looked.failed} failed: ${looked.firstFailure}`)
  await ask<SlowResult>(load, { order: 'close' } satisfies SlowOrder, askMs)
  return {
    ...{ readers, count, fileBytes, baseBytes, rssBytes },
    reached: sent.films,
    failed: looked.failed,
    leastBytes: looked.leastBytes,
    takenMedianBytes: sent.medianBytes,
    takenLargestBytes: sent.largestBytes,
    grownBytes: sent.grownBytes,
  }
}

const configFor = (port: number): object => ({
  accounts: [{ name: account, balance: '900000000.00' }],
  tokens: [{ account, name: 'bench', token: callerToken }],
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

async function makeFilm({ port, headers }: Target): Promise<string> {
  const url = `http://127.0.0.1:${port}/v1/videos`
  const body = JSON.stringify({ model, prompt: 'a film', seconds: '4' })
  const json = { ...headers, 'content-type': 'application/json' }
  const created = await fetch(url, { method: 'POST', headers: json, body })
  const { id } = (await created.json()) as { id?: string }
  for (const untilMs = performance.now() + askMs; performance.now() < untilMs; ) {
    const looked = await fetch(`${url}/${id}`, { headers })
    const { status } = (await looked.json()) as { status?: string }
    if (id !== undefined && status === 'completed') return id
    await Bun.sleep(quietMs / 10)
  }
  throw new Error('the film was not made in time')
}

/** Memory of a gateway that has served one film whole, as fast as it was read. */
async function warmBase(gateway: Target, url: string): Promise<number> {
  const signal = AbortSignal.timeout(warmUpSeconds * 1000)
  const response = await fetch(url, { headers: gateway.headers, signal })
  let got = 0
  for await (const bytes of response.body ?? []) got += bytes.byteLength
  if (got !== fileBytes) throw new Error(`the film has ${got} bytes: status ${response.status}`)
  await Bun.sleep(quietMs)
  return memory(gateway.pids).rssBytes
}

/** Follows the memory of a process; gives the largest seen. */
function watch({ pids, child }: Target): () => number {
  let largest = 0
  const sample = () => {
    const obituary = child.obituary()
    if (obituary !== undefined) throw new Error(`under many downloads ${obituary}`)
    largest = Math.max(largest, memory(pids).rssBytes)
  }
  const timer = setInterval(sample, sampleMs)
  return () => {
    clearInterval(timer)
    sample()
    return largest
  }
}

type Sent = FilesSent & { grownBytes: number }

async function sentAfter(upstream: Child): Promise<Sent> {
  const before = await ask<FilesSent>(upstream, { order: 'count' } satisfies FileOrder, askMs)
  await Bun.sleep(slowSeconds * 1000)
  const now = await ask<FilesSent>(upstream, { order: 'count' } satisfies FileOrder, askMs)
  return { ...now, grownBytes: now.totalBytes - before.totalBytes }
}

/** Looks every second, until nothing has been taken for a while or the time is up. */
async function sentStanding(upstream: Child): Promise<Sent> {
  const looks: FilesSent[] = []
  for (;;) {
    const now = await ask<FilesSent>(upstream, { order: 'count' } satisfies FileOrder, askMs)
    const earlier = looks.at(-standSeconds)
    const grownBytes = now.totalBytes - (earlier?.totalBytes ?? 0)
    looks.push(now)
    if (earlier !== undefined && (grownBytes === 0 || looks.length > settleSeconds)) {
      return { ...now, grownBytes }
    }
    await Bun.sleep(1000)
  }
}
