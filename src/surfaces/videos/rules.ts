// What each video model accepts: one row for each model. Knows names and numbers, no fields.

type Range = readonly [min: number, max: number]

export interface InputRule {
  /** Images of `input_reference` and `input_image`. */
  images: Range
  /** Videos of `references.video`. */
  videos: Range
  /** Whether `input_reference` may hold videos too: as its first item, or anywhere. */
  clips: 'none' | 'first' | 'any'
  /** All of these together. */
  total: Range
  /** Text-to-video only. */
  needsPrompt: boolean
  /** Whether the video is as long as its source: always, or unless a length is requested. */
  followsSource?: 'always' | 'unless_asked'
}

/** More than any request needs; the upstream judges what a model accepts. */
export const maxImages = 64
export const maxVideos = 16
const maxMedia = maxImages + maxVideos

const rule = (images: Range, videos: Range, more: Partial<InputRule> = {}): InputRule => ({
  images,
  videos,
  clips: 'none',
  total: [0, maxMedia],
  needsPrompt: false,
  ...more,
})

const textOnly = rule([0, 0], [0, 0], { needsPrompt: true })
const optionalImages: Range = [0, maxImages]

const rules: Readonly<Record<string, InputRule>> = {
  'vfb-1.1-t2v': textOnly,
  'vfb-1.1-i2v': rule([1, 1], [0, 0]),
  'vfb-1.1-r2v': rule([1, maxImages], [0, 0]),
  'vfb-1.0-i2v': rule([1, 1], [0, 0]),
  'vfb-1.0-r2v': rule([1, maxImages], [0, 0]),
  'vfb-1.0-video-edit': rule([0, 1], [0, maxVideos], {
    total: [1, maxMedia],
    followsSource: 'always',
  }),
  'vfa-2.7-t2v': textOnly,
  'vfa-2.7-i2v': rule(optionalImages, [0, 0], { clips: 'first', total: [1, maxMedia] }),
  'vfa-2.7-r2v': rule(optionalImages, [1, maxVideos]),
  'vfa-2.7-videoedit': rule(optionalImages, [1, 1], { followsSource: 'unless_asked' }),
}

/** For a model that the operator declared: its upstream judges the rest. */
const anyInput = rule(optionalImages, [0, maxVideos], { clips: 'any' })

/** A dated name accepts what its undated one does. */
const undated = (model: string): string => model.replace(/-\d{4}-\d{2}-\d{2}$/, '')

export function ruleFor(model: string): InputRule {
  const name = undated(model)
  return Object.hasOwn(rules, name) ? rules[name]! : anyInput
}

export const maxSeconds = 15
export const defaultSeconds = 5
const minByFamily: readonly [prefix: string, seconds: number][] = [
  ['vfb-', 3],
  ['', 2],
]

export const minSeconds = (model: string): number =>
  minByFamily.find(([prefix]) => model.startsWith(prefix))![1]

/** Width to height, as upstreams name it. */
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '5:4', '4:5', '21:9', '9:21']

export const ratioOf = (width: number, height: number): string | undefined =>
  ratios.find((ratio) => {
    const [across, down] = ratio.split(':').map(Number)
    return width * down! === height * across!
  })
