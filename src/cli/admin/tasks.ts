// gateway task: what is being made, how far it is, and cancelling it.

import { listedTask, taskQuery } from '../../admin/tasks/task-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { listCommand, segment } from '../terminal/list.ts'
import { cell, type Row, record, rowOf } from '../terminal/show.ts'
import { exitCodes, Stop } from '../terminal/stop.ts'
import { refundCommand } from './refunds.ts'

const pollEveryMs = 1_000
/** A day. */
const maxPolls = 86_400
const barWidth = 20
const endStates = ['succeeded', 'failed', 'cancelled']

/** How far a piece of work is. */
interface Progress {
  state: string
  progress: unknown
  elapsedMs: number
}

/** One line that is drawn anew on a terminal; elsewhere a line per change. */
export function openProgress({ write, json }: Context) {
  const redraws = process.stdout.isTTY === true
  let last: string | undefined
  return {
    show({ state, progress, elapsedMs }: Progress): void {
      if (json) return
      const stand = `${cell(state).padEnd(11)}  ${bar(progress)}`
      const line = `${stand}  ${elapsedText(elapsedMs)}`
      if (redraws) write(`\r\u001b[2K${line}`)
      else if (stand !== last) write(`${line}\n`)
      last = stand
    },
    end(): void {
      if (redraws && last !== undefined) write('\n')
      last = undefined
    },
  }
}

/** 40 -> '[########------------]  40%' */
function bar(progress: unknown): string {
  const known = typeof progress === 'number' && Number.isFinite(progress) ? progress : 0
  const percent = Math.min(100, Math.max(0, Math.floor(known)))
  const full = Math.floor((percent * barWidth) / 100)
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${String(percent).padStart(3)}%`
}

/** 75_400 -> '1m15s' */
function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

/** By the gateway's clock at both ends once there are two ends. */
function elapsedOf(task: Row): number {
  const from = Date.parse(String(task['created_at']))
  const to = task['finished_at'] == null ? Date.now() : Date.parse(String(task['finished_at']))
  return Number.isNaN(to - from) ? 0 : to - from
}

async function watch(context: Context): Promise<Outcome> {
  const { line, admin } = context
  const path = `/tasks/${segment(line.arg(0))}`
  const progress = openProgress(context)
  try {
    for (let polls = 0; polls < maxPolls; polls++) {
      const answer = await admin.ask('GET', path)
      const task = rowOf(answer)
      const state = String(task['state'])
      const shown = state === 'succeeded' ? 100 : task['progress']
      progress.show({ state, progress: shown, elapsedMs: elapsedOf(task) })
      if (endStates.includes(state)) {
        progress.end()
        return { answer, text: resultOf(task), ok: state === 'succeeded' }
      }
      await Bun.sleep(pollEveryMs)
    }
  } finally {
    progress.end()
  }
  throw new Stop(exitCodes.refused, 'the task has not ended within a day; watch it again')
}

/** What a watcher waited for: the cost and the files, or the reason why there are none. */
function resultOf(task: Row): string {
  const fields = ['id', 'state', 'model', 'channel', 'charge', 'usage', 'media', 'error']
  const present = fields.filter((field) => task[field] != null && cell(task[field]) !== '-')
  return record(Object.fromEntries(present.map((field) => [field, task[field]])))
}

export const taskCommands: readonly Command[] = [
  listCommand(
    { path: ['task', 'list'], summary: 'tasks, newest first' },
    { path: '/tasks', what: 'tasks', item: listedTask, query: taskQuery },
  ),
  askCommand({
    path: ['task', 'show'],
    args: ['ID'],
    summary: "one task by the gateway's id or the upstream's",
    call: 'GET /tasks/:id',
  }),
  askCommand({
    path: ['task', 'cancel'],
    args: ['ID'],
    summary: 'cancel a task, if its upstream can still cancel it',
    call: 'POST /tasks/:id/cancel',
    text: ({ id, state }) => `${cell(id)}  ${cell(state)}`,
  }),
  refundCommand('task'),
  {
    path: ['task', 'watch'],
    args: ['ID'],
    summary: 'follow a task until it ends, then print its result',
    flags: {},
    run: watch,
  },
]
