// One slice: a stretch of load on one target, with the target's CPU time and memory read around it.
// Before the first, a probe shows that the target answers in full.

import type { Slice } from '../cpu/report.ts'
import type { Child } from '../lib/children.ts'
import { cpuMicros, memory } from '../lib/proc.ts'
import type { Target } from '../lib/targets.ts'
import {
  type Asked,
  chatBody,
  endMarkOf,
  type Mode,
  payloads,
  problemWith,
  type Style,
} from '../payload/index.ts'
import type { LoadCommand, LoadResult } from './load.ts'

/** One kind of call in one style. */
export interface Call extends Partial<Pick<Asked, 'body' | 'asksUsage'>> {
  style: Style
  mode: Mode
  /** Absent: the usual one of the style. */
  model?: string
  /** The model's upstream speaks another style. */
  isTranslated?: boolean
  /** Every call has a connection of its own. */
  closes?: boolean
}

/** Which call to send to which target, and how much must come back. */
export interface Work extends Call {
  target: Target
  minBodyBytes: number
}

const probeMs = 10_000
const sampleMs = 250
/** The load generator waits for the last answers; this is longer. */
const lateMs = 10_000
/** What is done after the answers, such as the gateway's rows, is part of their cost. */
export const settleSeconds = 2
/** Ids may differ in length from call to call, a lost delta is more than that. */
const minShare = 0.995

/** One call, read and checked in full, so that the checks under load can stay simple; throws. */
export async function probe(target: Target, call: Call): Promise<Work> {
  const { style, mode, model = payloads[style].model } = call
  const { pathOf, headers } = payloads[style]
  const answer = await fetch(`http://127.0.0.1:${target.port}${pathOf(mode, model)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers, ...target.headers },
    body: bodyOf(call),
    signal: AbortSignal.timeout(probeMs),
  })
  const body = await answer.text()
  const problem =
    answer.status === 200 ? problemWith(style, mode, body, call) : `status ${answer.status}`
  if (problem !== undefined) {
    const what = `${target.name} gave a wrong ${style} answer (${mode}): ${problem}`
    throw new Error(`${what}\n${body.slice(0, 500)}`)
  }
  return { ...call, target, minBodyBytes: Math.floor(Buffer.byteLength(body) * minShare) }
}

function bodyOf(call: Call): string {
  const { style, mode, model = payloads[style].model, body = 'usual', asksUsage = true } = call
  if (style !== 'chat') return payloads[style].requestBody(mode, model)
  return chatBody({ mode, model, body, asksUsage })
}

export function rawRequest(
  target: Pick<Target, 'port' | 'headers'>,
  call: Call,
  body: string = bodyOf(call),
): string {
  const { style, mode, model = payloads[style].model, closes } = call
  const { pathOf, headers } = payloads[style]
  const all = {
    host: `localhost:${target.port}`,
    'content-type': 'application/json',
    ...headers,
    ...target.headers,
    ...(closes && { connection: 'close' }),
    'content-length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${pathOf(mode, model)} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

export function commandFor(work: Work, connections: number, seconds: number): LoadCommand {
  const { target, style, mode, minBodyBytes, isTranslated, closes } = work
  const endMark = mode === 'stream' ? endMarkOf(style, isTranslated) : undefined
  return {
    port: target.port,
    request: rawRequest(target, work),
    minBodyBytes,
    ...(endMark !== undefined && { endMark }),
    ...(closes && { closes }),
    connections,
    seconds,
  }
}

/** Has the load generator do its work; throws when the target did not live through it. */
export async function runLoad(
  load: Child,
  target: Target,
  command: LoadCommand,
): Promise<LoadResult> {
  load.send(JSON.stringify(command))
  const line = await load.waitForLine(/^\{.*\}$/, command.seconds * 1000 + lateMs)
  const exitReport = target.child.exitReport()
  if (exitReport !== undefined) throw new Error(`under load ${exitReport}`)
  return JSON.parse(line) as LoadResult
}

export async function measure(
  load: Child,
  work: Work,
  connections: number,
  seconds: number,
): Promise<Slice> {
  const { target, style, mode } = work
  let rssBytes = 0
  const sample = () => {
    if (target.child.exitReport() !== undefined) return
    rssBytes = Math.max(rssBytes, memory(target.pids).rssBytes)
  }
  const before = cpuMicros(target.pids)
  const sampling = setInterval(sample, sampleMs)
  const result = await runLoad(load, target, commandFor(work, connections, seconds))
  await Bun.sleep(settleSeconds * 1000)
  const spent = cpuMicros(target.pids) - before
  clearInterval(sampling)
  return {
    target: target.name,
    style,
    mode,
    served: result.served,
    failed: result.failed,
    ...(result.firstFailure !== undefined && { firstFailure: result.firstFailure }),
    cpuMicrosPerRequest: spent / result.served,
    requestsPerSecond: (result.served * 1000) / result.elapsedMs,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    rssBytes,
    // The kernel updates its own peak late.
    peakBytes: Math.max(rssBytes, memory(target.pids).peakBytes),
  }
}
