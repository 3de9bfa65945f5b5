// Images as documents describe them. Plain fields come from the schema that reads them; a test keeps the rest
// together with the parser.
import { answered, json, type Operation } from '../../http/operation.ts'
import {
  bytes,
  described,
  either,
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
import { modelField } from '../common/model-field.ts'
import { documented } from '../media/fields.ts'
import {
  createHeaders,
  createRefusals,
  imageAddress,
  imageObject,
  keyHeader,
} from '../media/operations.ts'
import { maxInputs } from './media.ts'
import { imageFields } from './parse.ts'

const fields = { model: modelField, ...documented(imageFields) }

export const generationRequest = named('ImageGenerationRequest', object(fields, open))

const input = either(imageObject, imageAddress)
const noMask: Schema = { type: 'null', description: 'Not taken here.' }

export const editRequest = named(
  'ImageEditRequest',
  object(
    {
      ...fields,
      'images?': described(
        orNull(either(list(input, { maxItems: maxInputs }), input)),
        `The images to change, at most ${maxInputs} with those in \`image\`.`,
      ),
      'image?': orNull(either(list(input, { maxItems: maxInputs }), input)),
      'mask?': noMask,
      'markup?': noMask,
    },
    open,
  ),
)

const { prompt: imagePrompt = text() } = fields as Readonly<Record<string, Schema>>

/** In a form every value is text. */
const editForm = named(
  'ImageEditForm',
  object(
    {
      model: modelField,
      prompt: imagePrompt,
      image: described(either(bytes(), list(bytes())), 'Files, as `image` or `image[]`.'),
      'n?': text('Digits.', { pattern: '^(?:[1-9]|10)$' }),
      'size?': text('As in JSON.'),
      'response_format?': word(['url', 'b64_json']),
      'seed?': text('Digits.', { pattern: '^\\d{1,10}$' }),
    },
    open,
  ),
)

const images = named(
  'Images',
  object({
    created: whole(0, undefined, 'Seconds since 1970.'),
    data: list(
      object({
        'url?': text('Where the image is, for a while.'),
        'b64_json?': text('The image itself.'),
        'revised_prompt?': text('What the upstream made of the prompt.'),
      }),
    ),
    'usage?': described(
      object({
        input_tokens: whole(0),
        input_tokens_details: object({
          text_tokens: whole(0),
          image_tokens: whole(0),
          cached_tokens: whole(0),
        }),
        output_tokens: whole(0),
        output_tokens_details: object({ text_tokens: whole(0), image_tokens: whole(0) }),
        total_tokens: whole(0),
      }),
      'What was charged for, of models that are priced by tokens.',
    ),
  }),
)

const shared = {
  method: 'post',
  tag: 'Images',
  credential: 'token',
  parameters: [keyHeader],
  answers: [answered(images, 'The images.', { headers: createHeaders })],
} as const satisfies Partial<Operation>

const refusals = [...createRefusals, 'invalid_seed'] as const

export const imagesOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'createImages',
    path: '/v1/images/generations',
    summary: 'Generate images',
    description:
      'Answers when the images are complete. Other settings of SDKs, such as `quality`, are ignored.',
    body: {
      required: true,
      content: json(generationRequest, {
        url: { model: 'imga-plus', prompt: 'a lighthouse at dusk', size: '512x512' },
        bytes: { model: 'imga-plus', prompt: 'a boat', size: '64x64', response_format: 'b64_json' },
      }),
    },
    refusals,
  },
  {
    ...shared,
    id: 'editImages',
    path: '/v1/images/edits',
    summary: 'Edit images',
    body: {
      required: true,
      content: {
        ...json(editRequest, {
          address: {
            model: 'imga-edit',
            prompt: 'make it night',
            images: [{ image_url: 'https://example.com/lighthouse.png' }],
            size: '512x512',
          },
        }),
        'multipart/form-data': { schema: editForm },
      },
    },
    refusals,
  },
]
