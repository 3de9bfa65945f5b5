// Image tasks as documents tell of them. The parser decides; a test keeps the two together.
import {
  answered,
  callerRefusals,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import {
  described,
  either,
  flag,
  list,
  named,
  number,
  object,
  open,
  orNull,
  type Schema,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { maxModelName } from '../common/fields.ts'
import { createHeaders, createRefusals, keyHeader } from '../media/operations.ts'
import { maxExternalId, maxPrompt } from './fields.ts'
import { maxInputs } from './inputs.ts'
import { elementModel, omniModel, type Path, referenceModel } from './models.ts'
import { maxImages, minInSeries, ratios } from './parse.ts'

const image = text('A public address, or the bytes in base64.')
const fraction = (description: string) => orNull(number(0, 1, description))
const elements = orNull(
  list(
    object(
      {
        element_id: either(
          whole(1, Number.MAX_SAFE_INTEGER),
          text('Its digits.', { pattern: '^[1-9]\\d{0,18}$' }),
        ),
      },
      open,
    ),
    {
      maxItems: maxInputs,
      description: `Elements its caller has upstream; of ${elementModel} only.`,
    },
  ),
)

const shared = (sizes: readonly string[], shapes: readonly string[]): Record<string, Schema> => ({
  'model_name?': orNull(text('The model.', { minLength: 1, maxLength: maxModelName })),
  prompt: text('What to draw.', { maxLength: maxPrompt, pattern: '\\S' }),
  'resolution?': orNull(word(sizes, 'Default `1k`.')),
  'n?': orNull(whole(1, maxImages, 'How many pictures; default 1.')),
  'aspect_ratio?': orNull(
    word(shapes, `Default \`${shapes.at(-1) === 'auto' ? 'auto' : shapes[0]}\`.`),
  ),
  'watermark_info?': orNull(object({ 'enabled?': orNull(flag()) }, open)),
  'callback_url?': orNull(
    text('Where to tell of the end; an empty one is none.', { maxLength: 2_048 }),
  ),
  'external_task_id?': orNull(
    text('A name of your own for the task, unique in the account.', {
      minLength: 1,
      maxLength: maxExternalId,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
    }),
  ),
})

const orEmpty = (schema: Schema, description: string): Schema =>
  orNull(described(either(schema, { const: '' }), description))

export const plainRequest = named(
  'ImageTaskRequest',
  object(
    {
      ...shared(['1k', '2k'], ratios),
      'negative_prompt?': orNull(
        text('What not to draw; not together with `image`.', { maxLength: maxPrompt }),
      ),
      'image?': orNull(image),
      'image_reference?': orEmpty(
        word(['subject', 'face']),
        `What the picture is for; of ${referenceModel} only, which needs it with an \`image\`.`,
      ),
      'image_fidelity?': fraction('How closely to follow the picture.'),
      'human_fidelity?': fraction('How closely to follow the face.'),
      'element_list?': elements,
    },
    open,
  ),
)

export const omniRequest = named(
  'OmniImageTaskRequest',
  object(
    {
      ...shared(['1k', '2k', '4k'], [...ratios, 'auto']),
      'image_list?': orNull(
        list(object({ image: text('As `image` above.', { minLength: 1 }) }, open), {
          maxItems: maxInputs,
        }),
      ),
      'element_list?': elements,
      'result_type?': orNull(word(['single', 'series'])),
      'series_amount?': orNull(
        either(whole(minInSeries, maxImages), { type: 'string', const: 'auto' }),
      ),
    },
    open,
  ),
)

const pictures = list(object({ index: whole(0), url: text('Where it is, for a while.') }))
const result = object({
  'result_type?': word(['series']),
  images: pictures,
  'series_images?': pictures,
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

interface Door {
  path: Path
  name: string
  request: Schema
  example: object
  description: string
}

const doors: readonly Door[] = [
  {
    path: 'generations',
    name: 'ImageTask',
    request: plainRequest,
    example: { model_name: 'imgvendor-v2-1', prompt: 'a lighthouse', n: 1, aspect_ratio: '1:1' },
    description: 'Answered as soon as the upstream has taken it.',
  },
  {
    path: 'omni-image',
    name: 'OmniImageTask',
    request: omniRequest,
    example: { model_name: omniModel, prompt: 'a lighthouse', resolution: '1k' },
    description: `For ${omniModel}, from a prompt, pictures and elements.`,
  },
]

const operationsAt = ({ path, name, request, example, description }: Door): Operation[] => {
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
      summary: 'Look at an image task',
      credential: 'token',
      parameters: [inPath('id', text('`task_id` or `external_task_id`.'))],
      answers: [answered(one, 'The task.')],
      refusals: [...callerRefusals, 'task_not_found'],
    },
  ]
}

export const imgvendorOperations: readonly Operation[] = doors.flatMap(operationsAt)
