// Long-running video operations as documents describe them. Parameters come from the schema that reads them.
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
} from '../../http/schema.ts'
import { documented } from '../media/fields.ts'
import {
  base64Pattern,
  createHeaders,
  createRefusals,
  downloadAnswers,
  downloadRefusals,
  imageAddress,
  keyHeader,
  rangeHeaders,
} from '../media/operations.ts'
import { maxReferences } from './media.ts'
import { operationParameters } from './parse.ts'

const type = orNull(
  text('Default `image/png`.', { pattern: '^[Ii][Mm][Aa][Gg][Ee]/[A-Za-z0-9.+-]{1,64}$' }),
)
const base64 = text('Base64.', { pattern: base64Pattern })
const image = either(
  object({ uri: imageAddress }, open),
  object({ bytesBase64Encoded: base64, 'mimeType?': type }, open),
  object({ inlineData: object({ data: base64, 'mimeType?': type }, open) }, open),
)
const nothing: Schema = { type: 'object', maxProperties: 0 }
const imageOrNone = (description: string): Schema =>
  described(orNull(either(...(image['anyOf'] as Schema[]), nothing)), description)

/** In either place, but not in both. */
const media = {
  'image?': imageOrNone('The first frame.'),
  'lastFrame?': imageOrNone('The last frame; needs `image`.'),
  'referenceImages?': orNull(
    either(
      list(either(object({ image: image }, open), ...(image['anyOf'] as Schema[])), {
        maxItems: maxReferences,
      }),
      nothing,
    ),
  ),
  'video?': described(orNull(either(nothing)), 'A video to start from is not taken here.'),
}

const parameters = object({ ...documented(operationParameters), ...media }, open)

export const operationRequest = named(
  'LongRunningRequest',
  object(
    {
      instances: list(
        object(
          {
            prompt: text('What the video shows.', { pattern: '\\S' }),
            ...media,
          },
          open,
        ),
        { minItems: 1, maxItems: 1 },
      ),
      'parameters?': orNull(parameters),
    },
    open,
  ),
)

const operation = named(
  'LongRunningOperation',
  object({
    name: text('`operations/{id}`'),
    done: flag(),
    'response?': object({
      generateVideoResponse: object({
        generatedSamples: list(
          object({
            video: object({ uri: text('Where to download it, with a token.') }),
            metadata: object({ durationSeconds: number(0), 'size?': text('`1280x720`') }),
          }),
        ),
      }),
    }),
    'error?': object({
      code: whole(0, 16, 'The number of the status.'),
      message: text(),
      status: text('Such as `INVALID_ARGUMENT`.'),
      reason: text('The code of the table of errors.'),
    }),
  }),
)

const version = inPath('version', text('Such as `v1beta`.'))
const id = inPath('id', text('What follows `operations/` in its name, or `video_…`.'))
const base = { tag: 'Long-running videos', credential: 'token' } as const
const poll: Pick<Operation, 'summary' | 'answers' | 'refusals'> = {
  summary: 'Get an operation',
  answers: [answered(operation, 'The operation.', { headers: ['retry-after'] })],
  refusals: [...callerRefusals, 'operation_not_found'],
}

export const vendorgOperations: readonly Operation[] = [
  {
    ...base,
    id: 'createLongRunningVideo',
    method: 'post',
    path: '/vendorg/{version}/models/{model}:predictLongRunning',
    routed: '/vendorg/:version/models/:call',
    summary: 'Create an operation that makes a video',
    parameters: [version, inPath('model', text('Name of a model.')), keyHeader],
    body: {
      required: true,
      content: json(operationRequest, {
        text: {
          instances: [{ prompt: 'a boat at sea' }],
          parameters: { durationSeconds: 4, resolution: '720p', aspectRatio: '16:9' },
        },
        frames: {
          instances: [
            { prompt: 'from day to night', image: { uri: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
          parameters: { lastFrame: { uri: 'data:image/png;base64,iVBORw0KGgo=' } },
        },
      }),
    },
    answers: [
      answered(operation, 'The operation.', { headers: [...createHeaders, 'retry-after'] }),
    ],
    refusals: [
      ...createRefusals,
      'invalid_duration',
      'invalid_resolution',
      'invalid_seed',
      'not_found',
    ],
  },
  {
    ...base,
    ...poll,
    id: 'getLongRunningVideo',
    method: 'get',
    path: '/vendorg/{version}/operations/{id}',
    parameters: [version, id],
  },
  {
    ...base,
    ...poll,
    id: 'getLongRunningVideoOfModel',
    method: 'get',
    path: '/vendorg/{version}/models/{model}/operations/{id}',
    parameters: [version, inPath('model', text('Name of a model.')), id],
  },
  {
    ...base,
    id: 'downloadLongRunningVideo',
    method: 'get',
    path: '/vendorg/{version}/files/{id}:download',
    routed: '/vendorg/:version/files/:call',
    summary: 'Download the video of a finished operation',
    parameters: [version, id, inQuery('alt', text('`media`, as SDKs send it.')), ...rangeHeaders],
    answers: downloadAnswers(['video/mp4']),
    refusals: [...callerRefusals, ...downloadRefusals, 'file_not_found', 'video_not_ready'],
  },
]
