// Image tasks as documents describe them. The fields come from the schemas that read them.
import {
  answered,
  callerRefusals,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import {
  flag,
  list,
  named,
  object,
  open,
  orNull,
  type Schema,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { maxModelName } from '../common/fields.ts'
import { documented } from '../media/fields.ts'
import { createHeaders, createRefusals, keyHeader } from '../media/operations.ts'
import { omniModel, type Path } from './models.ts'
import { schemas } from './parse.ts'

const request = (name: string, path: Path): Schema =>
  named(
    name,
    object(
      {
        'model_name?': orNull(text('The model.', { minLength: 1, maxLength: maxModelName })),
        ...documented(schemas[path]),
        'callback_url?': orNull(
          text('Where to send the callback; an empty one is none.', { maxLength: 2_048 }),
        ),
      },
      open,
    ),
  )

const images = list(object({ index: whole(0), url: text('Where it is, for a while.') }))
const result = object({
  'result_type?': word(['series']),
  images,
  'series_images?': images,
})

const task = {
  task_id: text("The gateway's name of the task."),
  task_status: word(['submitted', 'processing', 'succeed', 'failed']),
  task_info: object({ 'external_task_id?': text() }),
  'task_result?': result,
  created_at: whole(0, undefined, 'Milliseconds since 1970.'),
  updated_at: whole(0, undefined, 'Milliseconds since 1970.'),
}

const imageTask = named(
  'ImageTask',
  object({
    ...task,
    'task_status_msg?': text('Why it failed.'),
    'watermark_info?': object({ 'enabled?': flag() }, open),
  }),
)

const notice = named('ImageTaskNotice', object({ ...task, task_status_msg: text() }))

const envelope = (data: Schema): Schema =>
  object({ code: { const: 0 }, message: word(['success']), request_id: text(), data })

const one = named('ImageTaskEnvelope', envelope(imageTask))
const many = named('ImageTaskListEnvelope', envelope(list(imageTask)))

interface Route {
  path: Path
  name: string
  request: Schema
  example: object
  description: string
}

const routes: readonly Route[] = [
  {
    path: 'generations',
    name: 'ImageTask',
    request: request('ImageTaskRequest', 'generations'),
    example: { model_name: 'imgvendor-v2-1', prompt: 'a lighthouse', n: 1, aspect_ratio: '1:1' },
    description: 'Answered as soon as the upstream has taken it.',
  },
  {
    path: 'omni-image',
    name: 'OmniImageTask',
    request: request('OmniImageTaskRequest', 'omni-image'),
    example: { model_name: omniModel, prompt: 'a lighthouse', resolution: '1k' },
    description: `For ${omniModel}, from a prompt, images and elements.`,
  },
]

const operationsAt = ({ path, name, request, example, description }: Route): Operation[] => {
  const base = `/imgvendor/v1/images/${path}`
  const tag = 'Image tasks'
  return [
    {
      id: `create${name}`,
      method: 'post',
      path: base,
      tag,
      summary: 'Create an image task',
      description,
      credential: 'token',
      parameters: [keyHeader],
      body: { required: true, content: json(request, { text: example }) },
      answers: [answered(one, 'The task.', { headers: createHeaders })],
      refusals: [...createRefusals, 'invalid_resolution'],
      callback: { field: 'callback_url', schema: notice },
    },
    {
      id: `list${name}s`,
      method: 'get',
      path: base,
      tag,
      summary: 'List image tasks, newest first',
      credential: 'token',
      parameters: [
        inQuery('pageNum', whole(1, 1_000, 'Default 1.')),
        inQuery('pageSize', whole(1, 500, 'Default 30.')),
      ],
      answers: [answered(many, 'A page of them, of both paths.')],
      refusals: callerRefusals,
    },
    {
      id: `get${name}`,
      method: 'get',
      path: `${base}/{id}`,
      tag,
      summary: 'Get an image task',
      credential: 'token',
      parameters: [inPath('id', text('`task_id` or `external_task_id`.'))],
      answers: [answered(one, 'The task.')],
      refusals: [...callerRefusals, 'task_not_found'],
    },
  ]
}

export const imgvendorOperations: readonly Operation[] = routes.flatMap(operationsAt)
