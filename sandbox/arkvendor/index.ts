// The arkvendor protocol as an upstream speaks it: native video tasks that are created, polled,
// listed and, while they wait, deleted.
import { isFault } from '../http/fields.ts'
import {
  type Answer,
  bearerKey,
  type Call,
  type Fault,
  jsonAnswer,
  type ProtocolMaker,
} from '../protocol.ts'
import { pollTask } from '../tasks/poll-task.ts'
import { TaskMemory } from '../tasks/task-memory.ts'
import { arkvendorError } from './errors.ts'
import { readNativeRequest } from './request.ts'
import { arkIds } from './task-ids.ts'
import { type ArkInput, taskBody, userOf } from './wire.ts'

type Tasks = TaskMemory<ArkInput>

const usualPageSize = 10
const maxPageSize = 500

export const arkvendor: ProtocolMaker = (settings) => {
  const tasks: Tasks = new TaskMemory(settings, arkIds)
  const all = /^\/api\/v3\/contents\/generations\/tasks$/
  const one = /^\/api\/v3\/contents\/generations\/tasks\/(?<id>[^/]+)$/
  return {
    protocol: 'arkvendor',
    basePath: '/api/v3',
    delaySlows: 'task',
    idHeaders: ['x-request-id'],
    readKey: bearerKey,
    readUser: ({ safety_identifier }) => safety_identifier,
    errorBody: arkvendorError,
    tasks,
    routes: [
      { method: 'POST', path: all, answer: (call) => create(call, tasks) },
      { method: 'GET', path: all, answer: (call) => list(call, tasks) },
      { method: 'GET', path: one, answer: (call) => query(call, tasks) },
      { method: 'DELETE', path: one, answer: (call) => remove(call, tasks) },
    ],
  }
}

const refuse = (fault: Fault): Answer => ({ kind: 'fault', fault })

const unknownTask = (id: string): Answer =>
  refuse({ status: 404, message: `The specified task ${id} is not found.` })

function create({ id, key, fields, directives }: Call, tasks: Tasks): Answer {
  const video = readNativeRequest(fields)
  if (isFault(video)) return refuse(video)
  const { model, seconds, resolution } = video
  const task = tasks.create({ key, callId: id, model, seconds, resolution, directives, video })
  if (task !== undefined) return jsonAnswer({ id: task.id, ...userOf(task) })
  const message = 'Too many tasks are waiting or running. Please try again later.'
  return refuse({ status: 429, message, code: 'SetLimitExceeded' })
}

function query({ key, params, origin }: Call, tasks: Tasks): Answer {
  const task = tasks.find(params['id'] ?? '', key)
  if (task === undefined) return unknownTask(params['id'] ?? '')
  return pollTask(tasks, task, key, (state) => taskBody(task, state, origin))
}

function remove({ key, params }: Call, tasks: Tasks): Answer {
  const task = tasks.find(params['id'] ?? '', key)
  if (task === undefined) return unknownTask(params['id'] ?? '')
  if (tasks.cancel(task)) return jsonAnswer({})
  const message = `The task is ${tasks.stateOf(task)} and cannot be deleted.`
  return refuse({ status: 409, message })
}

function list({ key, search, origin }: Call, tasks: Tasks): Answer {
  const pageNum = pageNumber(search.get('page_num'), 1)
  const pageSize = pageNumber(search.get('page_size'), usualPageSize)
  const status = search.get('filter.status')
  const model = search.get('filter.model')
  const ids = search.getAll('filter.task_ids')
  const rows = tasks
    .ofKey(key)
    .map((task) => ({ task, state: tasks.stateOf(task) }))
    .filter(({ state }) => status === null || state === status)
    .filter(({ task }) => model === null || task.input.model === model)
    .filter(({ task }) => ids.length === 0 || ids.includes(task.id))
  const page = rows.slice((pageNum - 1) * pageSize, pageNum * pageSize)
  const items = page.map(({ task, state }) => taskBody(task, state, origin))
  return jsonAnswer({ items, total: rows.length })
}

function pageNumber(given: string | null, usual: number): number {
  return given !== null && /^[1-9]\d{0,3}$/.test(given)
    ? Math.min(Number(given), maxPageSize)
    : usual
}
