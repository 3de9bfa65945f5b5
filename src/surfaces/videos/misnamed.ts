// Fields of other dialects, each with its name here. Ignoring one would make, and charge for, another video
// than requested.
import type { Refusal } from '../../contract/errors.ts'
import { type Fields, wrong } from '../common/fields.ts'

const length = "'seconds'"
const shape = "'size', such as 1280x720 or 720x1280"
const image = "'input_reference'"
const video = "'references.video' or 'input_reference'"
const words = "'prompt'"

const rightNames: ReadonlyMap<string, string> = new Map([
  ...['duration', 'durationSeconds', 'duration_seconds', 'length', 'frames', 'num_frames'].map(
    (name) => [name, length] as const,
  ),
  ...['ratio', 'aspect_ratio', 'aspectRatio', 'width', 'height'].map(
    (name) => [name, shape] as const,
  ),
  ...['image', 'images', 'image_url', 'image_urls', 'img_url', 'image_list', 'input_images'].map(
    (name) => [name, image] as const,
  ),
  ...[
    'first_frame',
    'last_frame',
    'firstFrame',
    'lastFrame',
    'first_frame_url',
    'last_frame_url',
  ].map((name) => [name, image] as const),
  ...['referenceImages', 'reference_images', 'reference_image', 'image_tail', 'media'].map(
    (name) => [name, image] as const,
  ),
  ...['video', 'videos', 'video_url', 'video_urls', 'reference_video', 'reference_videos'].map(
    (name) => [name, video] as const,
  ),
  ...['text', 'negative_prompt', 'negativePrompt', 'content', 'input', 'instances'].map(
    (name) => [name, words] as const,
  ),
  ['model_name', "'model'"],
  ['quality', "'resolution', 720p or 1080p"],
  ['parameters', "'seconds', 'resolution' and 'seed' at the top"],
  ['n', 'one request for each video'],
  ['sampleCount', 'one request for each video'],
])

export function misnamedIn(fields: Fields): Refusal | undefined {
  for (const name of Object.keys(fields)) {
    const right = rightNames.get(name)
    if (right === undefined || fields[name] === null || fields[name] === undefined) continue
    if (isOne(name, fields[name])) continue
    return wrong(name, `'${name}' is not taken here; use ${right}`)
  }
  return undefined
}

/** One video is what every request makes. */
const isOne = (name: string, value: unknown): boolean =>
  (name === 'n' || name === 'sampleCount') && (value === 1 || value === '1')
