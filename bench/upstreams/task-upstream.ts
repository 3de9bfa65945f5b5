// The fake upstream of the poller, one process: video tasks that take a while, and answers that take
// 200 ms each. Prints its port, then takes one order per line. Refuses to know who asks.

import { createInterface } from 'node:readline'
import { jsonResponse, type Peer, pathOf, send, serveRaw } from './raw-server.ts'

export type TaskOrder =
  /** How long tasks take that are created from now on. */
  | { order: 'plan'; leastMs: number; mostMs: number }
  /** Prints what was asked since the last count. */
  | { order: 'count' }
  /** Prints when each task ended and how often it was asked for. */
  | { order: 'ends' }

export interface Asked {
  polls: number
  /** Questions that were waiting for their answer at the same time. */
  mostAtOnce: number
}

/** By upstream id. */
export type Ends = Record<string, { endMs: number; polls: number }>

const answerMs = 200
const filmSeconds = 5

let plan = { leastMs: 0, mostMs: 0 }
let ends: Ends = {}
let asked: Asked = { polls: 0, mostAtOnce: 0 }
let waiting = 0
let made = 0

function create(): object {
  const id = `up-${++made}`
  const tookMs = plan.leastMs + (plan.mostMs - plan.leastMs) * Math.random()
  ends[id] = { endMs: Math.round(Date.now() + tookMs), polls: 0 }
  return { output: { task_status: 'PENDING', task_id: id }, request_id: `r-${made}` }
}

/** A task it has not made runs for ever. */
function look(id: string): object {
  const task = ends[id]
  asked.polls++
  if (task !== undefined) task.polls++
  if (task === undefined || Date.now() < task.endMs) {
    return { output: { task_id: id, task_status: 'RUNNING' }, request_id: 'r' }
  }
  return {
    output: { task_id: id, task_status: 'SUCCEEDED', video_url: `https://films.example/${id}.mp4` },
    usage: { duration: filmSeconds, output_video_duration: filmSeconds, video_count: 1 },
    request_id: 'r',
  }
}

function answer(peer: Peer<object>, request: string): void {
  const work = {}
  peer.data.work = work
  waiting++
  asked.mostAtOnce = Math.max(asked.mostAtOnce, waiting)
  setTimeout(() => {
    waiting--
    if (peer.data.work !== work) return
    peer.data.work = undefined
    const isCreate = request.startsWith('POST')
    const body = isCreate ? create() : look(pathOf(request).split('/').at(-1) ?? '')
    send(peer, jsonResponse(JSON.stringify(body)))
  }, answerMs)
}

function obey(order: TaskOrder): void {
  if (order.order === 'plan') {
    plan = order
    ends = {}
    return
  }
  console.log(JSON.stringify(order.order === 'ends' ? ends : asked))
  asked = { polls: 0, mostAtOnce: waiting }
}

if (import.meta.main) {
  console.log(serveRaw<object>({ received: answer }))
  for await (const line of createInterface({ input: process.stdin })) obey(JSON.parse(line))
  process.exit(0)
}
