// The vf protocol as an upstream speaks it: videos and images made by tasks that are created,
// polled, listed and, while they wait, cancelled; and images made while the caller waits.

import { isFault } from '../http/fields.ts'
import { deliveredCount } from '../media/image-request.ts'
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
import { failureOf } from '../text/answer-text.ts'
import { vfError } from './errors.ts'
import { readImageRequest } from './image-request.ts'
import { answeredBody } from './image-wire.ts'
import { readVideoRequest } from './request.ts'
import { vfIds } from './task-ids.ts'
import {
  createdBody,
  listedTask,
  statusWords,
  taskBody,
  unknownBody,
  type VfInput,
  type VfWork,
} from './wire.ts'

type Tasks = TaskMemory<VfInput>

const usualPageSize = 10
const maxPageSize = 100

/** Which family of models is behind which path makes no difference here. */
const imageTaskPath =
  /^\/api\/v1\/services\/aigc\/(?:(?:text2image|image2image)\/image-synthesis|image-generation\/generation)$/

export const vf: ProtocolMaker = (settings) => {
  const tasks: Tasks = new TaskMemory(settings, vfIds)
  return {
    protocol: 'vf',
    basePath: '',
    delaySlows: 'task',
    idHeaders: ['x-request-id'],
    readKey: bearerKey,
    readUser: () => undefined,
    errorBody: vfError,
    tasks,
    routes: [
      {
        method: 'POST',
        path: /^\/api\/v1\/services\/aigc\/video-generation\/video-synthesis$/,
        answer: (call) => createVideo(call, tasks),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/services\/aigc\/multimodal-generation\/generation$/,
        delaySlows: 'answer',
        answer: (call) => answerImages(call, settings.now()),
      },
      { method: 'POST', path: imageTaskPath, answer: (call) => createImages(call, tasks) },
      { method: 'GET', path: /^\/api\/v1\/tasks$/, answer: (call) => list(call, tasks) },
      {
        method: 'GET',
        path: /^\/api\/v1\/tasks\/(?<id>[^/]+)$/,
        answer: (call) => query(call, tasks),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/tasks\/(?<id>[^/]+)\/cancel$/,
        bodyOptional: true,
        answer: (call) => cancel(call, tasks),
      },
    ],
  }
}

const refuse = (fault: Fault): Answer => ({ kind: 'fault', fault })

const wantsTask = ({ headers }: Call): boolean => headers.get('x-dashscope-async') === 'enable'

const wrongMode = (manner: 'synchronous' | 'asynchronous'): Answer =>
  refuse({ status: 403, message: `current user api does not support ${manner} calls.` })

function createVideo(call: Call, tasks: Tasks): Answer {
  if (!wantsTask(call)) return wrongMode('synchronous')
  const video = readVideoRequest(call.fields)
  if (isFault(video)) return refuse(video)
  const { model, seconds, lines } = video
  return create(call, tasks, { model, seconds, resolution: `${lines}p`, thing: 'video', video })
}

function createImages(call: Call, tasks: Tasks): Answer {
  if (!wantsTask(call)) return wrongMode('synchronous')
  const image = readImageRequest(call.fields)
  if (isFault(image)) return refuse(image)
  const { model, width, height } = image
  const size = { seconds: 0, resolution: `${width}*${height}` }
  const images = deliveredCount(image, call.directives)
  return create(call, tasks, { model, ...size, images, thing: 'image', image })
}

function answerImages(call: Call, madeMs: number): Answer {
  if (wantsTask(call)) return wrongMode('asynchronous')
  const { directives, origin } = call
  const image = readImageRequest(call.fields)
  if (isFault(image)) return refuse(image)
  const fault = failureOf(directives)
  if (fault !== undefined) return refuse(fault)
  const counts = { promptTokens: 0, completionTokens: 0 }
  const images = deliveredCount(image, directives)
  const body = answeredBody({ image, directives, origin, madeMs }, call.id)
  return jsonAnswer(body, { ...counts, images })
}

type Wanted = Pick<VfInput, 'model' | 'seconds' | 'resolution' | 'images'> & VfWork

function create({ id, key, directives }: Call, tasks: Tasks, wanted: Wanted): Answer {
  const task = tasks.create({ key, callId: id, directives, ...wanted })
  if (task !== undefined) return jsonAnswer(createdBody(task, id))
  const message = 'Too many tasks are waiting or running. Please try again later.'
  return refuse({ status: 429, message, code: 'Throttling.AllocationQuota' })
}

function query({ id, key, params, origin }: Call, tasks: Tasks): Answer {
  const taskId = params['id'] ?? ''
  const task = tasks.find(taskId, key)
  if (task === undefined) return jsonAnswer(unknownBody(taskId, id))
  return pollTask(tasks, task, key, (state) => taskBody(task, state, id, origin))
}

function cancel({ id, key, params }: Call, tasks: Tasks): Answer {
  const task = tasks.find(params['id'] ?? '', key)
  if (task !== undefined && tasks.cancel(task)) return jsonAnswer({ request_id: id })
  const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.'
  return refuse({ status: 400, message, code: 'UnsupportedOperation' })
}

function list({ id, key, search }: Call, tasks: Tasks): Answer {
  const pageNo = pageNumber(search.get('page_no'), 1, Number.MAX_SAFE_INTEGER)
  const pageSize = pageNumber(search.get('page_size'), usualPageSize, maxPageSize)
  const status = search.get('status')
  const model = search.get('model_name')
  const rows = tasks
    .ofKey(key)
    .map((task) => ({ task, state: tasks.stateOf(task) }))
    .filter(({ state }) => status === null || statusWords[state] === status)
    .filter(({ task }) => model === null || task.input.model === model)
  const page = rows.slice((pageNo - 1) * pageSize, pageNo * pageSize)
  return jsonAnswer({
    request_id: id,
    data: page.map(({ task, state }) => listedTask(task, state)),
    page_no: pageNo,
    page_size: pageSize,
    total: rows.length,
    total_page: Math.ceil(rows.length / pageSize),
  })
}

function pageNumber(given: string | null, usual: number, max: number): number {
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Math.min(Number(given), max) : usual
}
