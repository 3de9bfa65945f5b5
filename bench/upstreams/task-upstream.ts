// The fake upstream of the poller, one process: video tasks that take a while, and answers that take
// 200 ms each. Prints its port, then takes one command per line.

import { serveCommands } from '../lib/commands.ts'
import { jsonResponse, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export type TaskCommand =
  /** How long tasks take that are created from now on. */
  | { command: 'plan'; minMs: number; maxMs: number }
  /** Prints what was polled since the last count. */
  | { command: 'count' }
  /** Prints when each task ended and how often it was polled. */
  | { command: 'ends' }

export interface PollCounts {
  polls: number
  /** Polls that were waiting for their answer at the same time. */
  maxConcurrentPolls: number
}

/** By upstream id. */
export type Ends = Record<string, { endMs: number; polls: number }>

const answerMs = 200
const videoSeconds = 5

let plan = { minMs: 0, maxMs: 0 }
let ends: Ends = {}
let asked: PollCounts = { polls: 0, maxConcurrentPolls: 0 }
let waiting = 0
let made = 0

function create(): object {
  const id = `up-${++made}`
  const tookMs = plan.minMs + (plan.maxMs - plan.minMs) * Math.random()
  ends[id] = { endMs: Math.round(Date.now() + tookMs), polls: 0 }
  return { output: { task_status: 'PENDING', task_id: id }, request_id: `r-${made}` }
}

/** A task that this upstream did not create runs for ever. */
function poll(id: string): object {
  const task = ends[id]
  asked.polls++
  if (task !== undefined) task.polls++
  if (task === undefined || Date.now() < task.endMs) {
    return { output: { task_id: id, task_status: 'RUNNING' }, request_id: 'r' }
  }
  return {
    output: {
      task_id: id,
      task_status: 'SUCCEEDED',
      video_url: `https://videos.example/${id}.mp4`,
    },
    usage: { duration: videoSeconds, output_video_duration: videoSeconds, video_count: 1 },
    request_id: 'r',
  }
}

function answer(peer: Peer<object>, request: string): void {
  const work = {}
  peer.data.work = work
  waiting++
  asked.maxConcurrentPolls = Math.max(asked.maxConcurrentPolls, waiting)
  setTimeout(() => {
    waiting--
    if (peer.data.work !== work) return
    peer.data.work = undefined
    const isCreate = request.startsWith('POST')
    const body = isCreate ? create() : poll(pathOf(request).split('/').at(-1) ?? '')
    send(peer, jsonResponse(JSON.stringify(body)))
  }, answerMs)
}

function run(command: TaskCommand): object | undefined {
  if (command.command === 'plan') {
    plan = command
    ends = {}
    return undefined
  }
  const result = command.command === 'ends' ? ends : asked
  asked = { polls: 0, maxConcurrentPolls: waiting }
  return result
}

if (import.meta.main) {
  console.log(serveRaw<object>({ received: answer }))
  await serveCommands(run)
}
