// How long others wait while the gateway reads a body of the largest size, for every shape that is
// much work for some reader; alone, and some of them four at once. And what stays in memory.

import { account, callerToken } from '../lib/gateway-config.ts'
import { ask, note, type PartResult, placeFor, portOf, type Run, startOwn } from '../lib/part.ts'
import { memory } from '../lib/proc.ts'
import { startGateway } from '../lib/targets.ts'
import { stallBodies } from './bodies.ts'
import type { Probed } from './probe.ts'
import {
  formatStalls,
  judgeStalls,
  restSeconds,
  type StallFigures,
  type StallRow,
} from './report.ts'
import type { SendOrder, Sent } from './send.ts'

const bodyBytes = 32 * 1024 * 1024 - 1024
const sendMs = 60_000
const quietMs = 2_000
const peakEveryMs = 50
const together = ['one long text', 'a picture', 'empty objects', 'text in Chinese']
const copiesTogether = 4

export const stallSeconds = 4 * (Object.keys(stallBodies).length + together.length) + 30

const config = (url: string): object => ({
  region: 'cn',
  currency: 'CNY',
  accounts: [{ name: account, balance: '900000000.00' }],
  tokens: [{ account, name: 'bench', token: callerToken, models: ['*'] }],
  models: [
    ...textModels.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    { name: 'bench-embed', kind: 'embedding', interfaces: ['embeddings'] },
  ],
  prices: [...textModels, 'bench-embed'].map((model) => ({
    model,
    unit: 'token',
    per_million: { input: '1.00', output: '1.00' },
  })),
  channels: [
    {
      ...channel('bench', 'bench-upstream-key'),
      protocols: {
        chat: `${url}/v1`,
        responses: `${url}/v1`,
        messages: url,
        embeddings: `${url}/v1`,
        images: `${url}/v1`,
        vf: url,
        arkvendor: url,
        vendorg: url,
      },
      models: { 'bench-chat': '*', 'bench-renamed': 'another-name', ...sameNames },
    },
    {
      ...channel('bench-pictures', 'bench-access:bench-secret'),
      protocols: { imgvendor: url },
      models: { 'imgvendor-v3-omni': '*' },
    },
    {
      ...channel('bench-failing', 'bench-failing-key'),
      protocols: { chat: `${url}/failing` },
      models: { 'bench-failing': '*' },
    },
  ],
})

const textModels = ['bench-chat', 'bench-renamed', 'bench-failing']
const sameNames = Object.fromEntries(
  ['bench-embed', 'txta-plus', 'imga-edit', 'vfb-1.1-i2v', 'vfb-1.1-t2v']
    .concat('vidmodel-1-5-pro', 'vendorg-video-1')
    .map((name) => [name, '*']),
)

const channel = (name: string, key: string) => ({
  name,
  region: 'cn',
  keys: [key],
  max_concurrency: 100,
})

export async function runStall(run: Run): Promise<PartResult> {
  const own = placeFor(run, 'stall')
  const upstreamPort = await portOf(startOwn(own, 'stall/upstream'))
  const place = { ...own, upstreamPort }
  const gateway = await startGateway(place, run.options.gatewayCommand, [], {
    config: config(`http://127.0.0.1:${upstreamPort}`),
  })
  const url = `http://127.0.0.1:${gateway.port}`
  const probe = startOwn(own, 'stall/probe')
  const sender = startOwn(own, 'stall/send')
  const look = () => ask<Probed>(probe, { url }, sendMs)
  const row = async (shape: string, copies: number): Promise<StallRow> => {
    await look()
    const watch = watchPeak(gateway.pids)
    const { headers } = gateway
    const order: SendOrder = { url, headers, shape, bytes: bodyBytes, copies }
    const { statuses } = await ask<Sent>(sender, order, sendMs)
    const { worstMs } = await look()
    note(`stall: ${shape} x ${copies}: ${worstMs.toFixed(0)} ms`)
    return { shape, copies, statuses, worstMs, peakBytes: watch.end() }
  }
  // Once for the code to be compiled.
  await row('one long text', 1)
  await look()
  await Bun.sleep(quietMs)
  const quiet = await look()
  const baseBytes = memory(gateway.pids).rssBytes
  const rows: StallRow[] = []
  for (const shape of Object.keys(stallBodies)) rows.push(await row(shape, 1))
  for (const shape of together) rows.push(await row(shape, copiesTogether))
  await Bun.sleep(restSeconds * 1000)
  const restBytes = memory(gateway.pids).rssBytes
  const figures: StallFigures = { quietMs: quiet.worstMs, rows, baseBytes, restBytes }
  return {
    setting: `stall: bodies of ${bodyBytes} bytes, while another caller asks for /healthz`,
    tables: [formatStalls(figures)],
    verdicts: judgeStalls(figures),
    charges: [],
    failed: 0,
    figures: { stall: figures },
  }
}

function watchPeak(pids: readonly number[]): { end(): number } {
  let peakBytes = 0
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, memory(pids).rssBytes)
  }, peakEveryMs)
  return {
    end() {
      clearInterval(timer)
      return Math.max(peakBytes, memory(pids).rssBytes)
    },
  }
}
