// Frame sizes of the native video models, and the video tokens they take. Tables and arithmetic;
// knows no price.

export interface Size {
  width: number
  height: number
}

export const nativeResolutions = ['480p', '720p', '1080p'] as const
export type NativeResolution = (typeof nativeResolutions)[number]

export const framesPerSecond = 24
const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']

type Row = readonly (readonly [width: number, height: number])[]
type Table = Readonly<Record<NativeResolution, Row>>

/** Each row in the order of the ratios above. */
const table = (at480: string, at720: string, at1080: string): Table => ({
  '480p': rowOf(at480),
  '720p': rowOf(at720),
  '1080p': rowOf(at1080),
})

function rowOf(sizes: string): Row {
  return sizes.split(' ').map((size) => {
    const [width = 0, height = 0] = size.split('x').map(Number)
    return [width, height] as const
  })
}

const generation10 = table(
  '864x480 736x544 640x640 544x736 480x864 960x416',
  '1248x704 1120x832 960x960 832x1120 704x1248 1504x640',
  '1920x1088 1664x1248 1440x1440 1248x1664 1088x1920 2176x928',
)
const generation15 = table(
  '864x496 752x560 640x640 560x752 496x864 992x432',
  '1280x720 1112x834 960x960 834x1112 720x1280 1470x630',
  '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946',
)

const tableOf = (model: string): Table => (/-1-0-/.test(model) ? generation10 : generation15)

/** Undefined when the aspect ratio follows the input, or is unknown. */
export function nativeSize(
  model: string,
  resolution: NativeResolution,
  ratio: string,
): Size | undefined {
  const size = tableOf(model)[resolution][ratios.indexOf(ratio)]
  return size && { width: size[0], height: size[1] }
}

/** The first frame counts in addition to those of every second. */
export const framesIn = (seconds: number): number => Math.ceil(framesPerSecond * seconds) + 1

/** Maximum length of a video from a native model. */
export const maxNativeSeconds = 12

/** The model's largest frame, or one of a named height that its tables do not have. */
export function pixelsAt(model: string, resolution: string): number {
  const known = nativeResolutions.find((each) => each === resolution)
  if (known !== undefined) return maxPixels(model, known)
  const lines = linesOf(resolution)
  return lines === undefined ? maxPixels(model, '1080p') : Math.ceil((lines * lines * 16) / 9)
}

const maxPixels = (model: string, resolution: NativeResolution): number =>
  Math.max(...tableOf(model)[resolution].map(([width, height]) => width * height))

/** 1440p -> 1440, 4k -> 2160 */
function linesOf(resolution: string): number | undefined {
  const [, number, unit] = /^(\d{1,4})([pk])$/i.exec(resolution) ?? []
  if (number === undefined) return undefined
  return unit?.toLowerCase() === 'k' ? Number(number) * 540 : Number(number)
}

export const secondsOf = (frames: number): number =>
  Math.max(1, Math.round((frames - 1) / framesPerSecond))

export const tokensOf = ({ width, height }: Size, frames: number): number =>
  Math.round((width * height * frames) / 1024)

/** For an unknown aspect ratio it is that of the most expensive one. */
export function estimateTokens(
  model: string,
  resolution: NativeResolution,
  ratio: string,
  frames: number,
): number {
  const known = nativeSize(model, resolution, ratio)
  if (known !== undefined) return tokensOf(known, frames)
  const all = tableOf(model)[resolution].map(([width, height]) => ({ width, height }))
  return Math.max(...all.map((size) => tokensOf(size, frames)))
}
