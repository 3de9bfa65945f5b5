// How long other callers wait while the gateway reads a body of the largest size, for every shape that is
// expensive for some parser; alone, and some of them four at once. And what stays in memory.

import type { Child } from '../lib/children.ts'
import { callerConfig } from '../lib/gateway-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { watchPeakMemory } from '../lib/peak-memory.ts'
import { memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { stallBodies } from './bodies.ts'
import { hostileBodies, hostileModels } from './hostile.ts'
import type { ProbeResult } from './probe.ts'
import {
  checkHostile,
  checkStalls,
  everyShape,
  formatStalls,
  restSeconds,
  type StallFigures,
  type StallRow,
} from './report.ts'
import type { SendCommand, Sent } from './send.ts'

const bodyBytes = 32 * 1024 * 1024 - 1024
const sendMs = 60_000
const quietSleepMs = 2_000
const concurrent = ['one long text', 'an image', 'empty objects', 'text in Chinese']
const copiesAtOnce = 4

export const stallSeconds = 4 * (Object.keys(stallBodies).length + concurrent.length) + 30
/** Each of them sends every hostile body. */
const hostileCallers = [1, 4]
export const hostileSeconds = 3 * Object.keys(hostileBodies).length + 60

const config = (url: string): object => ({
  region: 'cn',
  currency: 'CNY',
  ...callerConfig,
  models: declaredModels,
  prices: [...textModels, ...hostileNames, 'bench-embed'].map((model) => ({
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
    ...hostileModels.map((each) => hostileChannel(each, url)),
    {
      ...channel('bench-images', 'bench-access:bench-secret'),
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

const hostileNames = hostileModels.map(({ model }) => model)
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

const declaredModels = [
  ...textModels.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
  ...hostileModels.map(({ model, wire }) => ({ name: model, kind: 'text', interfaces: [wire] })),
  { name: 'bench-embed', kind: 'embedding', interfaces: ['embeddings'] },
]

const hostileChannel = ({ model, wire }: (typeof hostileModels)[number], url: string) => ({
  ...channel(model, `${model}-key`),
  protocols: { [wire]: wire === 'chat' || wire === 'responses' ? `${url}/v1` : url },
  models: { [model]: 'another-name' },
})

export async function runStall(run: Run): Promise<PartResult> {
  const { gateway, measure, quietMs, baseBytes } = await startStage(run, 'stall')
  const rows: StallRow[] = []
  for (const shape of Object.keys(stallBodies)) rows.push(await measure.body(shape, 1))
  for (const shape of concurrent) rows.push(await measure.body(shape, copiesAtOnce))
  await Bun.sleep(restSeconds * 1000)
  const restBytes = memory(gateway.pids).rssBytes
  const figures: StallFigures = { quietMs, rows, baseBytes, restBytes }
  return {
    setting: `stall: bodies of ${bodyBytes} bytes, while another caller requests /healthz`,
    tables: [formatStalls(figures)],
    verdicts: checkStalls(figures),
    figures: { stall: figures },
  }
}

/** Requests of about a megabyte that are hard to translate, alone and by four callers at once. */
export async function runHostile(run: Run): Promise<PartResult> {
  const { gateway, measure, quietMs, baseBytes } = await startStage(run, 'hostile')
  const rows: StallRow[] = []
  for (const shape of Object.keys(hostileBodies)) rows.push(await measure.body(shape, 1))
  for (const callers of hostileCallers) rows.push(await measure.body(undefined, callers))
  await Bun.sleep(restSeconds * 1000)
  const restBytes = memory(gateway.pids).rssBytes
  const figures: StallFigures = { quietMs, rows, baseBytes, restBytes }
  return {
    setting: 'hostile: requests that are hard to translate, while another caller requests /healthz',
    tables: [formatStalls(figures)],
    verdicts: checkHostile(figures),
    figures: { hostile: figures },
  }
}

async function startStage(run: Run, name: string) {
  const own = workspaceFor(run, name)
  const upstreamPort = await portOf(startProgram(own, 'stall/upstream'))
  const gateway = await startGateway({ ...own, upstreamPort }, run.options.gatewayCommand, [], {
    config: config(`http://127.0.0.1:${upstreamPort}`),
  })
  const probe = startProgram(own, 'stall/probe')
  const measure = measureWith(gateway, probe, startProgram(own, 'stall/send'))
  // Once, so that the code is compiled.
  await measure.body('one long text', 1)
  await measure.wait()
  await Bun.sleep(quietSleepMs)
  const quiet = await measure.wait()
  const baseBytes = memory(gateway.pids).rssBytes
  return { gateway, measure, quietMs: quiet.worstMs, baseBytes }
}

/** The wait of the probe since the last call, and beside one body or several copies of it. */
function measureWith(gateway: Target, probe: Child, sender: Child) {
  const url = `http://127.0.0.1:${gateway.port}`
  const wait = () => ask<ProbeResult>(probe, { url }, sendMs)
  const body = async (wanted: string | undefined, copies: number): Promise<StallRow> => {
    const shape = wanted ?? everyShape
    await wait()
    const peakMemory = watchPeakMemory(gateway)
    const { headers } = gateway
    const command: SendCommand = { url, headers, bytes: bodyBytes, copies }
    if (wanted !== undefined) command.shape = wanted
    const { statuses } = await ask<Sent>(sender, command, sendMs)
    const { worstMs } = await wait()
    note(`stall: ${shape} x ${copies}: ${worstMs.toFixed(0)} ms`)
    return { shape, copies, statuses, worstMs, peakBytes: peakMemory() }
  }
  return { wait, body }
}
