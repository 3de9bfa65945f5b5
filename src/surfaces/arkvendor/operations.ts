// Native video tasks as documents describe them. Plain fields come from the schema that reads them; a test keeps the rest
// together with the parser.
import {
  answered,
  callerRefusals,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import {
  anything,
  either,
  list,
  named,
  number,
  object,
  open,
  orNull,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { documented } from '../media/fields.ts'
import { cancelRefusals, createHeaders, createRefusals, keyHeader } from '../media/operations.ts'
import { defaultRows, maxPages, maxRows, statesOf } from './page.ts'
import { maxItems, nativeFields } from './parse.ts'
import { tasksPath } from './view.ts'

const item = either(
  object({ type: word(['text']), text: text() }, open),
  object(
    {
      type: word(['image_url']),
      image_url: object({ url: text('Public address, or data URI.', { minLength: 1 }) }, open),
      'role?': anything('What the image is for.'),
    },
    open,
  ),
  object(
    {
      type: word(['draft_task']),
      draft_task: object({ id: text('Id of an earlier task of the same account.') }, open),
    },
    open,
  ),
  object(
    { type: { type: 'string', not: { enum: ['text', 'image_url', 'draft_task'] } } },
    { ...open, description: 'Other items go to the upstream as they are.' },
  ),
)

export const nativeRequest = named(
  'NativeVideoRequest',
  object(
    {
      model: modelField,
      content: list(item, {
        minItems: 1,
        maxItems: maxItems,
        description: 'At least one text; image-to-video models need an image too.',
      }),
      ...documented(nativeFields),
      'callback_url?': orNull(
        text('Where to tell of the end; an empty one is none.', { maxLength: 2_048 }),
      ),
    },
    open,
  ),
)

const ids = {
  id: text("The upstream's name of the task."),
  platform_id: text("The gateway's: `video_…`."),
}
const status = word(Object.keys(statesOf))
const reported = { ...open, description: 'And whatever else the upstream reported.' }

const task = named(
  'NativeVideoTask',
  object(
    {
      ...ids,
      model: text('With its version, as the upstream has it.'),
      status,
      'content?': object(
        {
          'video_url?': text('Where the video is, for a while.'),
          'last_frame_url?': text('Where its last frame is, if it was asked for.'),
          'width?': whole(1),
          'height?': whole(1),
        },
        open,
      ),
      'resolution?': anything('As reported, else as asked for.'),
      'duration?': number(0, undefined, 'Seconds; as reported, else frames by rate.'),
      'framespersecond?': number(0),
      'usage?': object(
        {
          'completion_tokens?': whole(0),
          'total_tokens?': whole(0),
          'video_tokens?': whole(0, undefined, 'What is charged for.'),
        },
        open,
      ),
      'error?': object(
        {
          code: text(),
          message: text(),
          'upstream_code?': text('What the upstream called it.'),
        },
        open,
      ),
      created_at: whole(0, undefined, 'Seconds since 1970.'),
      updated_at: whole(0, undefined, 'Seconds since 1970.'),
    },
    reported,
  ),
)

const base = { tag: 'Native video tasks', credential: 'token' } as const
const id = inPath('id', text('`id` or `platform_id`.'))

export const arkvendorOperations: readonly Operation[] = [
  {
    ...base,
    id: 'createNativeVideoTask',
    method: 'post',
    path: tasksPath,
    summary: 'Create a native video task',
    description: 'Fields that are not named here are passed on.',
    parameters: [keyHeader],
    body: {
      required: true,
      content: json(nativeRequest, {
        text: {
          model: 'vidmodel-1-0-lite-t2v',
          content: [{ type: 'text', text: 'a boat at sea' }],
          duration: 5,
          resolution: '480p',
        },
        image: {
          model: 'vidmodel-1-0-lite-i2v',
          content: [
            { type: 'text', text: 'it begins to move' },
            { type: 'image_url', image_url: { url: 'https://example.com/boat.png' } },
          ],
        },
      }),
    },
    answers: [answered(object(ids), 'Its names.', { headers: createHeaders })],
    refusals: [
      ...createRefusals,
      'invalid_duration',
      'invalid_resolution',
      'invalid_seed',
      'task_not_found',
      'file_not_found',
    ],
    callback: { field: 'callback_url', schema: task },
  },
  {
    ...base,
    id: 'listNativeVideoTasks',
    method: 'get',
    path: tasksPath,
    summary: 'List native video tasks, newest first',
    parameters: [
      inQuery('page_num', whole(1, maxPages, 'Default 1.')),
      inQuery('page_size', whole(1, maxRows, `Default ${defaultRows}.`)),
      inQuery('filter.status', word(Object.keys(statesOf))),
      inQuery('filter.task_ids', text('Ids, with commas between them.')),
      inQuery('filter.model', text('Name of a model.')),
    ],
    answers: [
      answered(
        named('NativeVideoTaskList', object({ items: list(task), total: whole(0) })),
        'A page of them, and how many there are.',
      ),
    ],
    refusals: callerRefusals,
  },
  {
    ...base,
    id: 'getNativeVideoTask',
    method: 'get',
    path: `${tasksPath}/{id}`,
    summary: 'Get a native video task',
    parameters: [id],
    answers: [answered(task, 'The task.')],
    refusals: [...callerRefusals, 'task_not_found'],
  },
  {
    ...base,
    id: 'cancelNativeVideoTask',
    method: 'delete',
    path: `${tasksPath}/{id}`,
    summary: 'Cancel a native video task',
    parameters: [id],
    answers: [answered(object({ ...ids, status }), 'How it stands now.')],
    refusals: [...cancelRefusals, 'task_not_found'],
  },
]
