// The fake upstreams of the fail-over, one process: /a/..., /b/... and so on are channels that take
// some time for a good answer and none for a bad one. Prints its port, then takes one order per
// line. Refuses to know who asks.

import { createInterface } from 'node:readline'
import { payloads } from '../payload/index.ts'
import { jsonResponse, modelOf, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export type FailOrder =
  /** Which channels fail from now on. */
  | { order: 'fail'; channels: string[] }
  /** Prints the requests of each channel since the last count. */
  | { order: 'count' }

/** A model is never as fast as an error: the failing channel is always the least busy one. */
const answerMs = 20
const refusal = jsonResponse(
  JSON.stringify({ error: { message: 'overloaded', type: 'server_error', code: null } }),
  '503 Service Unavailable',
)

let failing = new Set<string>()
let counts: Record<string, number> = {}

/** /a/v1/chat/completions -> a */
export const channelOf = (path: string): string => path.split('/')[1] ?? ''

function answer(peer: Peer<object>, request: string): void {
  const channel = channelOf(pathOf(request))
  counts[channel] = (counts[channel] ?? 0) + 1
  if (failing.has(channel)) {
    send(peer, refusal)
    return
  }
  const work = {}
  peer.data.work = work
  setTimeout(() => {
    if (peer.data.work !== work) return
    peer.data.work = undefined
    send(peer, jsonResponse(payloads.chat.jsonAnswer(modelOf(request))))
  }, answerMs)
}

function obey(order: FailOrder): void {
  if (order.order === 'fail') {
    failing = new Set(order.channels)
    return
  }
  console.log(JSON.stringify(counts))
  counts = {}
}

if (import.meta.main) {
  console.log(serveRaw<object>({ received: answer }))
  for await (const line of createInterface({ input: process.stdin })) obey(JSON.parse(line))
  process.exit(0)
}
