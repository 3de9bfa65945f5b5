// How each model takes images and videos: a table, and the function that applies it. Which media
// are optional, and how long a video may be, is decided elsewhere.

import { estimateTokens, framesIn } from '../../contract/media/video-size.ts'
import type { VideoOutlook } from '../../contract/provider.ts'
import type { InputMedia, VideoRequest } from '../../contract/task.ts'

type Role =
  | 'first_frame'
  | 'last_frame'
  | 'first_clip'
  | 'reference_image'
  | 'reference_video'
  | 'video'
  | 'img_url'

type Roles = Readonly<Partial<Record<InputMedia['kind'], Role>>>

interface ModelRow {
  /** The role of the first item for the model, and of the others. No role: it is refused. */
  first: Roles
  later: Roles
  /** Whether the aspect ratio can be chosen; else it is that of the input. */
  ratio: boolean
  /** For more seconds than this, the model keeps the length of its source. */
  keepsLengthAbove?: number
}

/** All others are sent at most once. */
const repeated: ReadonlySet<Role> = new Set<Role>([
  'reference_image',
  'reference_video',
  'last_frame',
])

const anywhere = (roles: Roles) => ({ first: roles, later: roles })
const references = { image: 'reference_image', video: 'reference_video' } as const
const referenceImages = { image: 'reference_image' } as const

const textOnly: ModelRow = { ...anywhere({}), ratio: true }
const firstFrame = (role: Role): ModelRow => ({ first: { image: role }, later: {}, ratio: false })

const rows: ReadonlyMap<string, ModelRow> = new Map<string, ModelRow>([
  ['vfa-2.7-t2v', textOnly],
  [
    'vfa-2.7-i2v',
    {
      first: { image: 'first_frame', video: 'first_clip' },
      later: { image: 'last_frame' },
      ratio: false,
    },
  ],
  ['vfa-2.7-r2v', { ...anywhere(references), ratio: true }],
  [
    'vfa-2.7-videoedit',
    // A requested length is sent, and cuts a longer source; without one, and above the model's
    // maximum, the video is as long as its source.
    {
      ...anywhere({ image: 'reference_image', video: 'video' }),
      ratio: true,
      keepsLengthAbove: 10,
    },
  ],
  ['vfb-1.1-t2v', textOnly],
  ['vfb-1.1-i2v', firstFrame('first_frame')],
  ['vfb-1.1-r2v', { ...anywhere(referenceImages), ratio: true }],
  ['vfb-1.0-i2v', firstFrame('img_url')],
  ['vfb-1.0-r2v', { ...anywhere(referenceImages), ratio: true }],
  [
    'vfb-1.0-video-edit',
    // It supports only the length of its source, so none is ever sent.
    {
      ...anywhere({ image: 'img_url', video: 'reference_video' }),
      ratio: false,
      keepsLengthAbove: 0,
    },
  ],
])

/** A name missing from the table, such as a newer version, is handled by its suffix. */
function rowOf(plainModel: string): ModelRow {
  const undated = plainModel.replace(/-\d{4}-\d{2}-\d{2}$/, '')
  const kind = /-(t2v|i2v|r2v|video-?edit)$/.exec(undated)?.[1]?.replace('-', '')
  return rows.get(undated) ?? rows.get(`vfa-2.7-${kind}`) ?? textOnly
}

/** Whether the reported seconds may include those of an input video. */
export function takesVideo(plainModel: string): boolean {
  const { first, later } = rowOf(plainModel)
  return first.video !== undefined || later.video !== undefined
}

interface Input {
  prompt?: string
  negative_prompt?: string
  img_url?: string
  media?: { type: Role; url: string }[]
}

interface Parameters {
  resolution: string
  duration?: number
  ratio?: string
  seed?: number
  /** The upstream's own default adds a watermark on some models. */
  watermark: false
}

/** The input as the model takes it, or what it cannot take. */
export function inputFor(
  plainModel: string,
  { prompt, negativePrompt, media }: Pick<VideoRequest, 'prompt' | 'negativePrompt' | 'media'>,
): Input | { problem: string } {
  const { first, later } = rowOf(plainModel)
  const input: Input = prompt === '' ? {} : { prompt }
  // The other family has no field for it.
  if (negativePrompt !== undefined && plainModel.startsWith('vfa-')) {
    input.negative_prompt = negativePrompt
  }
  const list: NonNullable<Input['media']> = []
  const taken = new Set<Role>()
  for (const [index, { kind, url }] of media.entries()) {
    const role = (index === 0 ? first : later)[kind]
    if (role === undefined || (taken.has(role) && !repeated.has(role))) {
      return {
        problem: `${plainModel} has no use for item ${index + 1} of its input, of kind ${kind}`,
      }
    }
    taken.add(role)
    if (role === 'img_url') input.img_url = url
    else list.push({ type: role, url })
  }
  return list.length === 0 ? input : { ...input, media: list }
}

export function parametersFor(
  plainModel: string,
  { seconds, resolution, ratio, seed, followsSource }: Omit<VideoRequest, 'prompt' | 'media'>,
): Parameters {
  const row = rowOf(plainModel)
  const lengthCounts =
    followsSource !== true && seconds <= (row.keepsLengthAbove ?? Number.POSITIVE_INFINITY)
  return {
    resolution: resolution.toUpperCase(),
    ...(lengthCounts && { duration: seconds }),
    ...(row.ratio && ratio !== undefined && { ratio }),
    ...(seed !== undefined && { seed }),
    watermark: false,
  }
}

/** Maximum video length of these families. */
const maxSeconds = 15

/** A length that is not sent bounds nothing. */
export function outlookOf(request: VideoRequest, plainModel: string): VideoOutlook {
  const { resolution, ratio = 'adaptive' } = request
  const { duration: seconds = maxSeconds } = parametersFor(plainModel, request)
  const tokensIn = (length: number, shape: string) =>
    estimateTokens(plainModel, resolution, shape, framesIn(length))
  const bound = {
    seconds,
    tokens: tokensIn(seconds, ratio),
    resolution,
    maxSeconds: seconds,
    maxTokens: tokensIn(Math.max(seconds, maxSeconds), 'adaptive'),
  }
  return { bound, expected: request }
}
