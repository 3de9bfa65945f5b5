// The fake upstreams of the fail-over and of routing by latency, one process: /a/..., /b/... and so on are channels that take
// some time for a good answer and none for a bad one. Prints its port, then takes one command per
// line. Refuses to know who asks. Argument: how long a good answer takes, in milliseconds.

import { serveCommands } from '../lib/commands.ts'
import { payloads } from '../payload/index.ts'
import { jsonResponse, modelOf, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export type FailCommand =
  /** Which channels fail from now on. */
  | { command: 'fail'; channels: string[] }
  /** How long good answers of channels take from now on, in milliseconds; of others as usual. */
  | { command: 'slow'; channels: Record<string, number> }
  /** Prints the requests of each channel since the last count. */
  | { command: 'count' }

/** A model is never as fast as an error: the failing channel is always the least busy one. */
const answerMs = Number(process.argv[2] ?? '20')
const refusal = jsonResponse(
  JSON.stringify({ error: { message: 'overloaded', type: 'server_error', code: null } }),
  '503 Service Unavailable',
)

let failing = new Set<string>()
let slow: Record<string, number> = {}
let counts: Record<string, number> = {}

/** /a/v1/chat/completions -> a */
const channelOf = (path: string): string => path.split('/')[1] ?? ''

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
  }, slow[channel] ?? answerMs)
}

function run(command: FailCommand): object | undefined {
  if (command.command === 'fail') {
    failing = new Set(command.channels)
    return undefined
  }
  if (command.command === 'slow') {
    slow = command.channels
    return undefined
  }
  const result = counts
  counts = {}
  return result
}

if (import.meta.main) {
  console.log(serveRaw<object>({ received: answer }))
  await serveCommands(run)
}
