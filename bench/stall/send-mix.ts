// Sends the random mix of hostile requests, some callers at once, and counts what came back. Its own process, so
// that its cost is not counted as the gateway's.

import { setPriority } from 'node:os'
import { serveCommands } from '../lib/commands.ts'
import { type MixedRequest, mixOf } from './mix.ts'

setPriority(19)

export interface MixCommand {
  url: string
  headers: Record<string, string>
  seed: number
  count: number
  callers: number
}

export interface MixSent {
  /** How many had each status; 0 for no answer. */
  statuses: Record<number, number>
  answerBytes: number
  requestBytes: number
  /** The first requests that had no proper answer. */
  failures: string[]
  /** Those that took long, to be compared with the gateway's turns. */
  slow: { name: string; bytes: number; fromMs: number; untilMs: number }[]
}

const maxFailures = 20
const slowMs = 20

async function send({ url, headers, seed, count, callers }: MixCommand): Promise<MixSent> {
  const sent: MixSent = { statuses: {}, answerBytes: 0, requestBytes: 0, failures: [], slow: [] }
  const requests = mixOf(seed, count)
  const sendAll = async (): Promise<void> => {
    for (const request of requests) {
      sent.requestBytes += request.body.length
      const fromMs = Date.now()
      const { status, bytes } = await sendOne(url, headers, request)
      const untilMs = Date.now()
      if (untilMs - fromMs >= slowMs) {
        sent.slow.push({ name: request.name, bytes: request.body.length, fromMs, untilMs })
      }
      sent.statuses[status] = (sent.statuses[status] ?? 0) + 1
      sent.answerBytes += bytes
      if ((status === 0 || status === 500) && sent.failures.length < maxFailures) {
        sent.failures.push(`${status} ${request.name}`)
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, sendAll))
  return sent
}

async function sendOne(
  url: string,
  headers: Record<string, string>,
  { path, headers: own, body, isChunked }: MixedRequest,
): Promise<{ status: number; bytes: number }> {
  try {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, ...own },
      body: isChunked ? new Blob([new Uint8Array(body)]).stream() : new Uint8Array(body),
    })
    return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength }
  } catch {
    return { status: 0, bytes: 0 }
  }
}

await serveCommands(send)
