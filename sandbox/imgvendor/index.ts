// The imgvendor protocol as an upstream speaks it: images made by tasks that are created, polled
// at by either of their ids, and listed. It has an envelope of its own, whose code is what counts:
// some refusals come with HTTP 200.
import { isFault } from '../http/fields.ts'
import { deliveredCount } from '../media/image-request.ts'
import { type Answer, type Call, type Fault, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { pollTask } from '../tasks/poll-task.ts'
import { TaskMemory } from '../tasks/task-memory.ts'
import { codeWords, imgvendorError, refusedBody } from './errors.ts'
import { ExternalIds } from './external-ids.ts'
import { type ImagePath, paths, readImageRequest } from './request.ts'
import { faultOfKey, readImgvendorKey } from './signed-key.ts'
import { imgvendorIds } from './task-ids.ts'
import { createdTask, envelope, type ImgInput, type ImgTask, taskView } from './wire.ts'

interface Endpoint {
  path: ImagePath
  tasks: TaskMemory<ImgInput>
  names: ExternalIds
}

const usualPageSize = 30
const maxPageSize = 500
const maxPages = 1000
const codes = { unknown: 1203, tooMany: 1303 }

export const imgvendor: ProtocolMaker = (settings) => {
  const tasks = new TaskMemory(settings, imgvendorIds)
  const names = new ExternalIds()
  return {
    protocol: 'imgvendor',
    // Its paths are those of the images protocol.
    basePath: '/imgvendor',
    delaySlows: 'task',
    idHeaders: [],
    readKey: readImgvendorKey,
    faultOfKey: (headers, wanted) => faultOfKey(headers, wanted, settings.now()),
    readUser: ({ external_task_id }) => external_task_id,
    errorBody: imgvendorError,
    tasks,
    routes: paths.flatMap((path) => {
      const all = new RegExp(`^/imgvendor/v1/images/${path}$`)
      const one = new RegExp(`^/imgvendor/v1/images/${path}/(?<id>[^/]+)$`)
      const endpoint = { path, tasks, names }
      return [
        { method: 'POST', path: all, answer: (call: Call) => create(call, endpoint) },
        { method: 'GET', path: all, answer: (call: Call) => list(call, endpoint) },
        { method: 'GET', path: one, answer: (call: Call) => query(call, endpoint) },
      ]
    }),
  }
}

const refuse = (fault: Fault): Answer => ({ kind: 'fault', fault })

const refuseSoftly = (code: number, id: string): Answer =>
  jsonAnswer(refusedBody(code, codeWords.get(code) ?? '', id))

function create({ id, key, fields, directives }: Call, { path, tasks, names }: Endpoint): Answer {
  const request = readImageRequest(path, fields)
  if (isFault(request)) return refuse(request)
  const code = Number(directives.fail)
  if (codeWords.has(code)) return refuseSoftly(code, id)
  const { model, ...image } = request
  const { externalId, resolution } = image
  if (externalId !== undefined && names.idOf(key, externalId) !== undefined) {
    const message = `external_task_id '${externalId}' exists already`
    return refuse({ status: 400, message, param: 'external_task_id' })
  }
  const images = deliveredCount(image, directives)
  const made = { model, seconds: 0, resolution, images, directives, image }
  const task = tasks.create({ key, callId: id, ...made })
  if (task === undefined) return refuseSoftly(codes.tooMany, id)
  if (externalId !== undefined) names.note(key, externalId, task.id)
  return jsonAnswer(envelope(createdTask(task), id))
}

function query({ id, key, params, origin }: Call, endpoint: Endpoint): Answer {
  const task = findTask(decoded(params['id'] ?? ''), key, endpoint)
  if (task === undefined) return refuseSoftly(codes.unknown, id)
  const view = (state: Parameters<typeof taskView>[1]) =>
    envelope(taskView(task, state, origin), id)
  return pollTask(endpoint.tasks, task, key, view)
}

/** A task is known on the path it was made on, and on no other. */
function findTask(id: string, key: string, { path, tasks, names }: Endpoint): ImgTask | undefined {
  const task = tasks.find(id, key) ?? tasks.find(names.idOf(key, id) ?? '', key)
  return task?.input.image.path === path ? task : undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function list({ id, key, search, origin }: Call, { path, tasks }: Endpoint): Answer {
  const pageNum = pageNumber(search.get('pageNum'), 1, maxPages)
  const pageSize = pageNumber(search.get('pageSize'), usualPageSize, maxPageSize)
  if (pageNum === undefined || pageSize === undefined) {
    const message = `pageNum must be from 1 to ${maxPages}, pageSize from 1 to ${maxPageSize}`
    return refuse({ status: 400, message, param: 'pageNum' })
  }
  const page = tasks
    .ofKey(key)
    .filter(({ input }) => input.image.path === path)
    .slice((pageNum - 1) * pageSize, pageNum * pageSize)
  const rows = page.map((task) => taskView(task, tasks.stateOf(task), origin))
  return jsonAnswer(envelope(rows, id))
}

function pageNumber(given: string | null, usual: number, max: number): number | undefined {
  if (given === null) return usual
  return /^[1-9]\d{0,3}$/.test(given) && Number(given) <= max ? Number(given) : undefined
}
