// The vf protocol as an upstream speaks it: videos and pictures made by tasks that are created,
// looked at, listed and, while they wait, cancelled; and pictures made while the caller waits.

import { isFault } from '../http/fields.ts'
import { deliveredCount } from '../media/image-request.ts'
import {
  type Answer,
  type Ask,
  bearerKey,
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
  type VfOrder,
  type VfWork,
} from './wire.ts'

type Tasks = TaskMemory<VfOrder>

const usualPageSize = 10
const mostPageSize = 100

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
        answer: (ask) => createVideo(ask, tasks),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/services\/aigc\/multimodal-generation\/generation$/,
        delaySlows: 'answer',
        answer: (ask) => answerImages(ask, settings.now()),
      },
      { method: 'POST', path: imageTaskPath, answer: (ask) => createImages(ask, tasks) },
      { method: 'GET', path: /^\/api\/v1\/tasks$/, answer: (ask) => list(ask, tasks) },
      {
        method: 'GET',
        path: /^\/api\/v1\/tasks\/(?<id>[^/]+)$/,
        answer: (ask) => query(ask, tasks),
      },
      {
        method: 'POST',
        path: /^\/api\/v1\/tasks\/(?<id>[^/]+)\/cancel$/,
        bodyOptional: true,
        answer: (ask) => cancel(ask, tasks),
      },
    ],
  }
}

const refuse = (fault: Fault): Answer => ({ kind: 'fault', fault })

const wantsTask = ({ headers }: Ask): boolean => headers.get('x-dashscope-async') === 'enable'

const wrongManner = (manner: 'synchronous' | 'asynchronous'): Answer =>
  refuse({ status: 403, message: `current user api does not support ${manner} calls.` })

function createVideo(ask: Ask, tasks: Tasks): Answer {
  if (!wantsTask(ask)) return wrongManner('synchronous')
  const video = readVideoRequest(ask.fields)
  if (isFault(video)) return refuse(video)
  const { model, seconds, lines } = video
  return create(ask, tasks, { model, seconds, resolution: `${lines}p`, thing: 'video', video })
}

function createImages(ask: Ask, tasks: Tasks): Answer {
  if (!wantsTask(ask)) return wrongManner('synchronous')
  const image = readImageRequest(ask.fields)
  if (isFault(image)) return refuse(image)
  const { model, width, height } = image
  const size = { seconds: 0, resolution: `${width}*${height}` }
  const pictures = deliveredCount(image, ask.directives)
  return create(ask, tasks, { model, ...size, pictures, thing: 'picture', image })
}

function answerImages(ask: Ask, madeMs: number): Answer {
  if (wantsTask(ask)) return wrongManner('asynchronous')
  const { directives, origin } = ask
  const image = readImageRequest(ask.fields)
  if (isFault(image)) return refuse(image)
  const fault = failureOf(directives)
  if (fault !== undefined) return refuse(fault)
  const counts = { promptTokens: 0, completionTokens: 0 }
  const pictures = deliveredCount(image, directives)
  const body = answeredBody({ image, directives, origin, madeMs }, ask.id)
  return jsonAnswer(body, { ...counts, pictures })
}

type Wanted = Pick<VfOrder, 'model' | 'seconds' | 'resolution' | 'pictures'> & VfWork

function create({ id, key, directives }: Ask, tasks: Tasks, wanted: Wanted): Answer {
  const task = tasks.create({ key, callId: id, directives, ...wanted })
  if (task !== undefined) return jsonAnswer(createdBody(task, id))
  const message = 'Too many tasks are waiting or running. Please try again later.'
  return refuse({ status: 429, message, code: 'Throttling.AllocationQuota' })
}

function query({ id, key, params, origin }: Ask, tasks: Tasks): Answer {
  const taskId = params['id'] ?? ''
  const task = tasks.find(taskId, key)
  if (task === undefined) return jsonAnswer(unknownBody(taskId, id))
  return pollTask(tasks, task, key, (state) => taskBody(task, state, id, origin))
}

function cancel({ id, key, params }: Ask, tasks: Tasks): Answer {
  const task = tasks.find(params['id'] ?? '', key)
  if (task !== undefined && tasks.cancel(task)) return jsonAnswer({ request_id: id })
  const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.'
  return refuse({ status: 400, message, code: 'UnsupportedOperation' })
}

function list({ id, key, search }: Ask, tasks: Tasks): Answer {
  const pageNo = pageNumber(search.get('page_no'), 1, Number.MAX_SAFE_INTEGER)
  const pageSize = pageNumber(search.get('page_size'), usualPageSize, mostPageSize)
  const status = search.get('status')
  const model = search.get('model_name')
  const rows = tasks
    .ofKey(key)
    .map((task) => ({ task, state: tasks.stateOf(task) }))
    .filter(({ state }) => status === null || statusWords[state] === status)
    .filter(({ task }) => model === null || task.order.model === model)
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

function pageNumber(given: string | null, usual: number, most: number): number {
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Math.min(Number(given), most) : usual
}
