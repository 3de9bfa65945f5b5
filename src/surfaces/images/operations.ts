// Pictures as documents tell of them. The parser decides; a test keeps the two together.

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
import {
  createHeaders,
  createRefusals,
  imageAddress,
  imageObject,
  keyHeader,
  seedField,
} from '../media/operations.ts'
import { maxInputs } from './media.ts'
import { maxImages, maxPrompt, maxSeed, maxSide, minSide } from './parse.ts'

const inputFields: Readonly<Record<string, Schema>> = {
  model: modelField,
  prompt: text('What to draw, or what to change.', { maxLength: maxPrompt, pattern: '\\S' }),
  'n?': orNull(whole(1, maxImages, 'How many pictures; default 1.')),
  'size?': orNull(
    text(`\`auto\`, or width and height from ${minSide} to ${maxSide}: \`1024x1024\`.`, {
      pattern: '^(?:auto|[1-9]\\d{1,3}x[1-9]\\d{1,3})$',
    }),
  ),
  'response_format?': orNull(word(['url', 'b64_json'], 'Default `url`.')),
  'negative_prompt?': orNull(text('What not to draw.', { maxLength: maxPrompt })),
  'seed?': seedField(maxSeed),
  'stream?': { enum: [false, null], description: 'Pictures do not come as a stream.' },
}

export const generationRequest = named('ImageGenerationRequest', object(inputFields, open))

const input = either(imageObject, imageAddress)
const noMask: Schema = { type: 'null', description: 'Not taken here.' }

export const editRequest = named(
  'ImageEditRequest',
  object(
    {
      ...inputFields,
      'images?': described(
        orNull(either(list(input, { maxItems: maxInputs }), input)),
        `The pictures to change, at most ${maxInputs} with those in \`image\`.`,
      ),
      'image?': orNull(either(list(input, { maxItems: maxInputs }), input)),
      'mask?': noMask,
      'markup?': noMask,
    },
    open,
  ),
)

/** In a form every value is text. */
const editForm = named(
  'ImageEditForm',
  object(
    {
      model: modelField,
      prompt: text('What to change.', { maxLength: maxPrompt, pattern: '\\S' }),
      image: described(either(bytes(), list(bytes())), 'Files, as `image` or `image[]`.'),
      'n?': text('Digits.', { pattern: '^(?:[1-9]|10)$' }),
      'size?': text('As in JSON.'),
      'response_format?': word(['url', 'b64_json']),
      'seed?': text('Digits.', { pattern: '^\\d{1,10}$' }),
    },
    open,
  ),
)

const pictures = named(
  'Images',
  object({
    created: whole(0, undefined, 'Seconds since 1970.'),
    data: list(
      object({
        'url?': text('Where the picture is, for a while.'),
        'b64_json?': text('The picture itself.'),
        'revised_prompt?': text('What the upstream made of the prompt.'),
      }),
    ),
  }),
)

const shared = {
  method: 'post',
  tag: 'Images',
  credential: 'token',
  parameters: [keyHeader],
  answers: [answered(pictures, 'The pictures.', { headers: createHeaders })],
} as const satisfies Partial<Operation>

const refusals = [...createRefusals, 'invalid_seed'] as const

export const imagesOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'createImages',
    path: '/v1/images/generations',
    summary: 'Draw pictures',
    description:
      'Answered when the pictures are there. Other settings of SDKs, such as `quality`, go nowhere.',
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
    summary: 'Change pictures',
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
