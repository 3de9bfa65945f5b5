// One slice: a stretch of load on one target, with the target's CPU time and memory read around it.
// Before the first, a probe shows that the target answers in full.

import type { Child } from './children.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { chunkCount, doneEvent, type Mode, requestBody } from './payload.ts'
import { cpuMicros, memory } from './proc.ts'
import type { Slice } from './report.ts'
import type { Target } from './targets.ts'

/** What to ask of which target, and how much must come back. */
export interface Work {
  target: Target
  mode: Mode
  leastBodyBytes: number
}

const path = '/v1/chat/completions'
const probeMs = 10_000
const sampleMs = 250
/** The load generator waits for the last answers; this is longer. */
const lateMs = 10_000

/** One call, read in full and looked at, so that the fast checks of the load can stay simple. */
export async function probe(target: Target, mode: Mode): Promise<Work | { wrong: string }> {
  const answer = await fetch(`http://127.0.0.1:${target.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body: requestBody(mode),
    signal: AbortSignal.timeout(probeMs),
  })
  const body = await answer.text()
  const wrong = answer.status === 200 ? complaint(mode, body) : `status ${answer.status}`
  if (wrong !== undefined) {
    return { wrong: `${target.name} gave a wrong ${mode} answer: ${wrong}\n${body.slice(0, 500)}` }
  }
  // Ids may differ in length from call to call, a lost chunk is more than that.
  return { target, mode, leastBodyBytes: Math.floor(Buffer.byteLength(body) * 0.99) }
}

export function complaint(mode: Mode, body: string): string | undefined {
  if (!body.includes('"completion_tokens"')) return 'no usage'
  if (mode === 'json') return undefined
  const chunks = body.split('"content":" word"').length - 1
  if (chunks !== chunkCount) return `${chunks} content chunks, expected ${chunkCount}`
  return body.trimEnd().endsWith(doneEvent) ? undefined : `no ${doneEvent} at the end`
}

export function rawRequest(target: Target, mode: Mode): string {
  const body = requestBody(mode)
  const headers = {
    host: `localhost:${target.port}`,
    'content-type': 'application/json',
    ...target.headers,
    'content-length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

export async function measure(
  load: Child,
  work: Work,
  connections: number,
  seconds: number,
): Promise<Slice> {
  const { target, mode, leastBodyBytes } = work
  const request = rawRequest(target, mode)
  const order: LoadOrder = {
    port: target.port,
    mode,
    request,
    leastBodyBytes,
    connections,
    seconds,
  }
  let rssBytes = 0
  const sample = () => {
    if (target.child.obituary() !== undefined) return
    rssBytes = Math.max(rssBytes, memory(target.pids).rssBytes)
  }
  const before = cpuMicros(target.pids)
  const sampling = setInterval(sample, sampleMs)
  load.tell(JSON.stringify(order))
  const line = await load.waitForLine(/^\{.*\}$/, seconds * 1000 + lateMs)
  const obituary = target.child.obituary()
  if (obituary !== undefined) throw new Error(`during ${mode} calls ${obituary}`)
  const spent = cpuMicros(target.pids) - before
  clearInterval(sampling)
  const result = JSON.parse(line) as LoadResult
  return {
    target: target.name,
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
