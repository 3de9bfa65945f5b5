// The vendorg protocol as an upstream speaks it: videos made by operations that are created and
// polled by name. Nothing is listed or cancelled, and what was used is not reported.
import { isFault } from '../http/fields.ts'
import { mediaAddress } from '../media/media-address.ts'
import { type Answer, type Call, type Fault, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { pollTask } from '../tasks/poll-task.ts'
import { type SandboxTask, type SandboxTaskState, TaskMemory } from '../tasks/task-memory.ts'
import { failed, heldBack, vendorgError } from './errors.ts'
import { readVideoRequest } from './request.ts'
import { type VendorgOrder, vendorgIds } from './task-ids.ts'

type Tasks = TaskMemory<VendorgOrder>
type Operation = SandboxTask<VendorgOrder>

const mediaLifeMs = 48 * 3_600_000
const responseType =
  'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse'

export const vendorg: ProtocolMaker = (settings) => {
  const tasks: Tasks = new TaskMemory(settings, vendorgIds)
  return {
    protocol: 'vendorg',
    basePath: '',
    delaySlows: 'task',
    idHeaders: [],
    readKey: (headers) => headers.get('x-goog-api-key') ?? '',
    readUser: () => undefined,
    errorBody: vendorgError,
    tasks,
    routes: [
      {
        method: 'POST',
        path: /^\/v1beta\/models\/(?<model>[^/:]+):predictLongRunning$/,
        answer: (call) => create(call, tasks),
      },
      {
        method: 'GET',
        path: /^\/v1beta\/(?:models\/[^/]+\/)?operations\/(?<id>[^/]+)$/,
        answer: (call) => poll(call, tasks),
      },
    ],
  }
}

const refuse = (fault: Fault): Answer => ({ kind: 'fault', fault })

const nameOf = ({ id, input }: Operation): string => `models/${input.model}/operations/${id}`

function create({ id, key, params, fields, directives }: Call, tasks: Tasks): Answer {
  const model = decodeURIComponent(params['model'] ?? '')
  const video = readVideoRequest(model, fields)
  if (isFault(video)) return refuse(video)
  const { seconds, resolution } = video
  const task = tasks.create({ key, callId: id, model, seconds, resolution, directives, video })
  // While it runs, `done` is not there at all.
  if (task !== undefined) return jsonAnswer({ name: nameOf(task) })
  return refuse({ status: 429, message: 'Too many operations are running. Try again later.' })
}

function poll({ key, params, origin }: Call, tasks: Tasks): Answer {
  const task = tasks.find(params['id'] ?? '', key)
  if (task === undefined) {
    return refuse({ status: 404, message: 'Requested entity was not found.' })
  }
  return pollTask(tasks, task, key, (state) => ({
    name: nameOf(task),
    ...outcomeOf(task, state, origin),
  }))
}

function outcomeOf(task: Operation, state: SandboxTaskState, origin: string): object {
  if (state === 'queued' || state === 'running') return {}
  if (state === 'succeeded') {
    return made({ generatedSamples: [{ video: { uri: addressOf(task, origin) } }] })
  }
  return task.input.directives.fail === 'content_policy'
    ? made(heldBack)
    : { done: true, error: failed }
}

const made = (generateVideoResponse: object): object => ({
  done: true,
  response: { '@type': responseType, generateVideoResponse },
})

function addressOf({ input, endsMs }: Operation, origin: string): string {
  const { width, height, seconds, videoSeed } = input.video
  const video = { width, height, seconds, seed: videoSeed }
  return mediaAddress(origin, video, Math.floor((endsMs + mediaLifeMs) / 1000))
}
