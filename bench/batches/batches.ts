// A batch of the largest size over upstreams of three styles, whose gateway is killed again and again, and calls
// of others beside such batches, in turn with calls beside none. Refuses to know tables.

import { join } from 'node:path'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import { type Child, startChild } from '../lib/children.ts'
import { adminToken, callerConfig, tokenPrices } from '../lib/gateway-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { memory, treeOf } from '../lib/proc.ts'
import { freePort, startGateway, type Target } from '../lib/targets.ts'
import type { OpenResult } from '../load/open-load.ts'
import { rawRequest } from '../load/slice.ts'
import { type BatchFigures, type CallerFigures, checkBatch, formatBatch } from './report.ts'

const lineCount = 50_000
const kills = 10
/** Between two kills, while there are lines enough left. */
const linesPerKill = 3_500
/** Of calls beside the batch. */
const perSecond = 50
const warmUpSeconds = 5
/** After a batch, before calls are beside none. */
const calmMs = 2_000
const rounds = 5
const callSeconds = 10
const answerMs = 20
const drainMs = 20_000
const startMs = 30_000
const pollMs = 100
const sampleMs = 200
const maxSeconds = 900

export const batchesSeconds = maxSeconds

const model = 'bench-plus'
const styles = ['chat', 'messages', 'generate'] as const
/** Of the batch that is killed, and of those before it. */
const [account, other] = ['batches', 'rounds']
const tokenOf = (name: string): string => `sk-bench-${name.padEnd(32, '0')}`

const configOf = (sandbox: string, upstream: string): object => ({
  region: 'cn',
  currency: 'CNY',
  accounts: [
    ...callerConfig.accounts,
    ...[account, other].map((name) => ({ name, balance: '1000000.00' })),
  ],
  tokens: [
    ...callerConfig.tokens,
    ...[account, other].map((name) => ({
      account: name,
      name,
      token: tokenOf(name),
      models: ['*'],
    })),
  ],
  channels: [
    {
      ...{ name: 'fake', region: 'cn', keys: ['bench-upstream-key'] },
      protocols: { chat: `${upstream}/a/v1` },
      models: { [model]: 'bench-plus-2026-11' },
    },
    ...styles.map((style) => ({
      ...{ name: style, region: 'cn', keys: ['bench-upstream-key'] },
      protocols: { [style]: style === 'chat' ? `${sandbox}/v1` : sandbox },
      models: { [`bench-${style}`]: `${style}-2026-11` },
      max_concurrency: 1_000,
    })),
  ],
  models: [
    { name: model, kind: 'text', interfaces: ['chat'] },
    ...styles.map((style) => ({
      name: `bench-${style}`,
      kind: 'text',
      interfaces: [...new Set([style, 'chat'])],
    })),
  ],
  prices: tokenPrices([model, ...styles.map((style) => `bench-${style}`)]),
})

const lineOf = (number: number): string =>
  `${JSON.stringify({
    ...{ custom_id: `line-${number}`, method: 'POST', url: '/v1/chat/completions' },
    body: {
      model: `bench-${styles[number % styles.length]}`,
      max_tokens: 16,
      messages: [{ role: 'user', content: `Line ${number}: say a word.` }],
    },
  })}\n`

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any

async function call(
  port: number,
  path: string,
  init: RequestInit = {},
  key = tokenOf(account),
): Promise<Any> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

const read = async (port: number, path: string, key?: string): Promise<Any> =>
  (await call(port, path, {}, key)).json()

const input = (): File =>
  new File(
    Array.from({ length: lineCount }, (_, n) => lineOf(n)),
    'in.jsonl',
  )

async function createBatch(port: number, file: File, key = tokenOf(account)): Promise<string> {
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', file)
  const { id } = await (await call(port, '/v1/files', { method: 'POST', body: form }, key)).json()
  const body = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' }
  const create = {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  }
  const made = await call(port, '/v1/batches', create, key)
  return (await made.json()).id
}

/** The gateway that runs the batch, which is killed and started again on its port. */
class Killed {
  readonly #start: () => Promise<Target>
  #target: Target
  peakBytes = 0

  constructor(start: () => Promise<Target>, target: Target) {
    this.#start = start
    this.#target = target
  }

  get port(): number {
    return this.#target.port
  }

  /** One that ends meanwhile has no memory any more. */
  sample(): void {
    if (this.#target.child.exitReport() !== undefined) return
    try {
      this.peakBytes = Math.max(this.peakBytes, memory(this.#target.pids).rssBytes)
    } catch {}
  }

  async kill(): Promise<void> {
    this.sample()
    for (const pid of treeOf(this.#target.child.pid)) process.kill(pid, 'SIGKILL')
    await this.#target.child.stop()
    this.#target = await this.#start()
  }
}

const hasEnded = ({ status }: Any): boolean =>
  ['completed', 'failed', 'expired', 'cancelled'].includes(status)

const doneOf = ({ request_counts: counts }: Any): number => counts.completed + counts.failed

async function killOften(gateway: Killed, id: string): Promise<Any> {
  let killed = 0
  let next = 0
  for (;;) {
    const batch = await read(gateway.port, `/v1/batches/${id}`)
    if (hasEnded(batch)) return batch
    if (killed < kills && doneOf(batch) >= next) {
      if (next > 0) {
        note(`batches: kill ${++killed} at ${doneOf(batch)} lines`)
        await gateway.kill()
      }
      next = doneOf(batch) + linesPerKill
    }
    await Bun.sleep(pollMs)
  }
}

/** Of all tokens, by the answers: every kind has one price. */
function costIn(output: string): { ids: Set<string>; tokens: number; lines: number } {
  const ids = new Set<string>()
  let tokens = 0
  let lines = 0
  for (const text of output.split('\n')) {
    if (text === '') continue
    const { response } = JSON.parse(text)
    lines++
    ids.add(response.request_id)
    tokens += response.body.usage.total_tokens
  }
  return { ids, tokens, lines }
}

async function readCharges(port: number): Promise<Map<string, bigint[]>> {
  const charges = new Map<string, bigint[]>()
  for (let cursor = ''; ; ) {
    const path = `/admin/v1/accounts/${account}/ledger?limit=500${cursor}`
    const { items, next_cursor: next } = await read(port, path, adminToken)
    for (const { kind, request_id: id, amount } of items) {
      if (kind === 'charge') charges.set(id, [...(charges.get(id) ?? []), -parseNanos(amount)!])
    }
    if (next == null) return charges
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
}

/** Upstreams, and the gateway before them. */
async function setUp(run: Run) {
  const own = workspaceFor(run, 'batches')
  const upstream = startProgram(own, 'upstreams/failing-upstream', String(answerMs))
  const upstreamPort = await portOf(upstream)
  const sandbox = startChild({
    // It stands for other machines.
    command: ['nice', '-n', '19', 'bin/gateway', 'sandbox', '--port', '0'],
    ...{ name: 'sandbox', cwd: own.root },
    logFile: join(own.tempDir, 'sandbox.log'),
  })
  own.children.push(sandbox)
  const sandboxPort = await sandbox.waitForLine(/^ready http:\/\/[^:]+:(\d+)$/, startMs)
  const config = configOf(`http://127.0.0.1:${sandboxPort}`, `http://127.0.0.1:${upstreamPort}`)
  const env = { GATEWAY_PORT: String(freePort()) }
  const start = () =>
    startGateway({ ...own, upstreamPort }, run.options.gatewayCommand, [], { config, env })
  return { gateway: new Killed(start, await start()), load: startProgram(own, 'load/open-load') }
}

async function offer(
  load: Child,
  { port }: Killed,
  name: string,
  seconds: number,
): Promise<CallerFigures> {
  const headers = { authorization: `Bearer ${callerConfig.tokens[0]!.token}` }
  const request = rawRequest({ port, headers }, { style: 'chat', mode: 'json', model })
  const command = { port, seconds, groups: [{ name, request, perSecond }] }
  const { groups } = await ask<OpenResult>(load, command, seconds * 1000 + drainMs)
  const { served, failed, refused, p50Ms, p99Ms } = groups[0]!
  note(`batches: calls ${name}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`)
  return { name, served, failed: failed + refused, p50Ms, p99Ms }
}

/** A batch from its upload on, cancelled when half of the calls are made: the other half is beside its end. */
async function offerBeside(load: Child, gateway: Killed, file: File): Promise<CallerFigures> {
  const { port } = gateway
  const key = tokenOf(other)
  const offered = offer(load, gateway, 'beside', callSeconds)
  const id = await createBatch(port, file, key)
  await Bun.sleep(callSeconds * 500)
  await call(port, `/v1/batches/${id}/cancel`, { method: 'POST' }, key)
  const figures = await offered
  while (!hasEnded(await read(port, `/v1/batches/${id}`, key))) await Bun.sleep(pollMs)
  await Bun.sleep(calmMs)
  return figures
}

export async function runBatches(run: Run): Promise<PartResult> {
  const { gateway, load } = await setUp(run)
  const file = input()
  await offer(load, gateway, 'warm-up', warmUpSeconds)
  const sampling = setInterval(() => gateway.sample(), sampleMs)
  const alone: CallerFigures[] = []
  const beside: CallerFigures[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push(await offer(load, gateway, 'alone', callSeconds))
    beside.push(await offerBeside(load, gateway, file))
  }
  const beganMs = performance.now()
  const batch = await killOften(gateway, await createBatch(gateway.port, file))
  const seconds = (performance.now() - beganMs) / 1000
  clearInterval(sampling)
  const figures = await figuresOf(gateway, batch, { seconds, alone, beside })
  const { costNanos, chargedNanos } = figures
  return {
    setting:
      `batches: ${lineCount} lines over upstreams of ${styles.length} styles, the gateway killed ` +
      `${kills} times;\n         before it ${rounds} rounds of ${perSecond} calls a second for ${callSeconds} s ` +
      'without and beside such a batch',
    tables: [formatBatch(figures)],
    verdicts: checkBatch(figures),
    failed: [...alone, ...beside].reduce((sum, { failed }) => sum + failed, 0),
    figures: {
      batches: { ...figures, costNanos: String(costNanos), chargedNanos: String(chargedNanos) },
    },
  }
}

async function figuresOf(
  gateway: Killed,
  batch: Any,
  measured: Pick<BatchFigures, 'seconds' | 'alone' | 'beside'>,
): Promise<BatchFigures> {
  const { port } = gateway
  const output = await call(port, `/v1/files/${batch.output_file_id}/content`)
  const { ids, tokens } = costIn(await output.text())
  const charges = await readCharges(port)
  const amounts = [...charges.values()].flat()
  return {
    ...measured,
    ...{ lines: lineCount, kills, answered: ids.size, peakBytes: gateway.peakBytes },
    charges: amounts.length,
    chargedOnce: [...ids].filter((id) => charges.get(id)?.length === 1).length,
    costNanos: BigInt(tokens) * 1000n,
    chargedNanos: amounts.reduce((sum, nanos) => sum + nanos, 0n),
  }
}
