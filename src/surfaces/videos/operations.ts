// Videos as documents describe them. Plain fields come from the schema that reads them; a test keeps the rest
// together with the parser.
import { resolutions } from '../../contract/task.ts'
import {
  answered,
  callerRefusals,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import {
  bytes,
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
import { modelField } from '../common/model-field.ts'
import { documented } from '../media/fields.ts'
import {
  cancelRefusals,
  createHeaders,
  createRefusals,
  downloadAnswers,
  downloadRefusals,
  imageAddress,
  keyHeader,
  rangeHeaders,
  videoAddress,
} from '../media/operations.ts'
import { maxItems } from './media.ts'
import { defaultRows, maxRows } from './page.ts'
import { videoFields } from './parse.ts'

const orUrl = (address: Schema): Schema => either(address, object({ url: address }, open))
const absent: Schema = { type: 'null' }

const reference = either(
  imageAddress,
  object({ image_url: orUrl(imageAddress), 'video_url?': absent }, open),
  object({ video_url: orUrl(videoAddress), 'image_url?': absent }, open),
)

export const videoRequest = named(
  'VideoRequest',
  object(
    {
      model: modelField,
      ...documented(videoFields),
      'input_reference?': described(
        orNull(
          either(...(reference['anyOf'] as Schema[]), list(reference, { maxItems: maxItems })),
        ),
        'Images, and of some models videos, to start from. How many depends on the model.',
      ),
      'input_image?': orNull(imageAddress),
      'references?': orNull(
        object({ 'video?': orNull(list(videoAddress, { maxItems: maxItems })) }, open),
      ),
    },
    open,
  ),
)

const videoForm = named(
  'VideoForm',
  object(
    {
      model: modelField,
      'prompt?': text(),
      'seconds?': text('Digits.'),
      'resolution?': word(resolutions),
      'size?': text(),
      'input_reference?': described(either(bytes(), list(bytes())), 'Images as files.'),
      'seed?': text('Digits.', { pattern: '^\\d{1,10}$' }),
    },
    open,
  ),
)

const video = named(
  'Video',
  object({
    id: text("The gateway's name of the task: `video_…`."),
    video_id: text('The same.'),
    object: word(['video']),
    model: text(),
    status: word(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
    progress: whole(0, 100),
    created_at: whole(0, undefined, 'Seconds since 1970.'),
    completed_at: orNull(whole(0)),
    expires_at: orNull(whole(0, undefined, 'Until when the video can be fetched.')),
    seconds: text('Length that was asked for.'),
    resolution: text(),
    size: orNull(text()),
    'prompt?': text(),
    'url?': text('Where the finished video is, for a while.'),
    'video_url?': text('The same.'),
    'metadata?': object({ url: text() }),
    'usage?': object({
      'output_seconds?': number(0),
      'video_tokens?': whole(0),
      resolution: text(),
    }),
    error: orNull(object({ code: text(), message: text() })),
    remixed_from_video_id: { type: 'null' },
    request_id: text(),
  }),
)

const videos = named(
  'VideoList',
  object({
    object: word(['list']),
    data: list(video),
    first_id: orNull(text()),
    last_id: orNull(text()),
    has_more: flag(),
  }),
)

const deleted = named(
  'VideoDeleted',
  object({ id: text(), object: word(['video.deleted']), deleted: { const: true } }),
)

const id = inPath('id', text('`video_…`, of a task of any video interface.'))
const pollHeaders = ['retry-after', 'openai-poll-after-ms'] as const
const base = { tag: 'Videos', credential: 'token' } as const

export const videosOperations: readonly Operation[] = [
  {
    ...base,
    id: 'createVideo',
    method: 'post',
    path: '/v1/videos',
    summary: 'Create a video',
    description:
      'Answered as soon as the upstream has taken it; poll it until it is `completed`, `failed` ' +
      'or `cancelled`. How many images and videos a model accepts depends on the model; a refusal says so.',
    parameters: [keyHeader],
    body: {
      required: true,
      content: {
        ...json(videoRequest, {
          text: { model: 'vfb-1.1-t2v', prompt: 'a boat at sea', seconds: 3, resolution: '720p' },
          image: {
            model: 'vfb-1.1-i2v',
            prompt: 'it begins to move',
            seconds: '3',
            input_reference: { image_url: 'https://example.com/boat.png' },
          },
        }),
        'multipart/form-data': { schema: videoForm },
      },
    },
    answers: [answered(video, 'The video.', { headers: [...createHeaders, ...pollHeaders] })],
    refusals: [...createRefusals, 'invalid_duration', 'invalid_resolution', 'invalid_seed'],
  },
  {
    ...base,
    id: 'listVideos',
    method: 'get',
    path: '/v1/videos',
    summary: 'List videos',
    parameters: [
      inQuery('limit', whole(1, maxRows, `Default ${defaultRows}.`)),
      inQuery('order', word(['asc', 'desc'], 'Default `desc`, newest first.')),
      inQuery(
        'after',
        text('Id of the last video of the page before.', { pattern: '^video_[a-z0-9]{1,64}$' }),
      ),
    ],
    answers: [answered(videos, 'A page of them.')],
    refusals: [...callerRefusals, 'video_not_found'],
  },
  {
    ...base,
    id: 'getVideo',
    method: 'get',
    path: '/v1/videos/{id}',
    summary: 'Get a video',
    parameters: [id],
    answers: [answered(video, 'The video.', { headers: pollHeaders })],
    refusals: [...callerRefusals, 'video_not_found'],
  },
  {
    ...base,
    id: 'downloadVideo',
    method: 'get',
    path: '/v1/videos/{id}/content',
    summary: 'Download a finished video',
    parameters: [id, inQuery('variant', text('Only `video`.')), ...rangeHeaders],
    answers: downloadAnswers(['video/mp4']),
    refusals: [
      ...callerRefusals,
      ...downloadRefusals,
      'video_not_found',
      'video_not_ready',
      'not_found',
    ],
  },
  {
    ...base,
    id: 'cancelVideo',
    method: 'post',
    path: '/v1/videos/{id}/cancel',
    summary: 'Cancel a video',
    parameters: [id],
    answers: [answered(video, 'The cancelled video.')],
    refusals: [...cancelRefusals, 'video_not_found'],
  },
  {
    ...base,
    id: 'deleteVideo',
    method: 'delete',
    path: '/v1/videos/{id}',
    summary: 'Cancel a video, or put a finished one away',
    parameters: [id],
    answers: [
      answered(
        named('RemovedVideo', either(video, deleted)),
        'The cancelled video, or that the finished one is gone.',
        {
          headers: pollHeaders,
        },
      ),
    ],
    refusals: [...cancelRefusals, 'video_not_found'],
  },
]
