// What a native request will come to, as far as that can be told before: fields first, then the
// commands in the text, then what the model does by itself. Where the two differ, the dearer.
import {
  estimateTokens,
  type NativeResolution,
  nativeResolutions,
  picturesIn,
  secondsOf,
} from '../../contract/video-size.ts'

type Json = Readonly<Record<string, unknown>>

export interface Estimate {
  tokens: number
  seconds: number
  resolution: NativeResolution
  /** `adaptive` when it follows the caller's pictures. */
  ratio: string
}

const usualSeconds = 5
/** Longest the upstream makes; what it chooses by itself may be that long. */
const mostSeconds = 12
const fewestSeconds = 2
const fewestFrames = 29

export function estimateFor(model: string, body: Json, content: readonly Json[]): Estimate {
  const told = commandsIn(content)
  const lengths = [lengthIn(body), lengthIn(told)].filter((each) => each !== undefined)
  const pictures = lengths.length > 0 ? Math.max(...lengths) : picturesIn(usualSeconds)
  const resolution = dearest(body['resolution'], told.resolution) ?? usualResolution(model)
  const ratio = ratioOf(body['ratio'], told.ratio) ?? usualRatio(model, content)
  return {
    tokens: estimateTokens(model, resolution, ratio, pictures),
    seconds: secondsOf(pictures),
    resolution,
    ratio,
  }
}

interface Commands extends Json {
  resolution?: string
  ratio?: string
  duration?: number
  frames?: number
}

/** `--rs 720p --dur 5` after the prompt. A wrong one is passed over, as the upstream does. */
function commandsIn(content: readonly Json[]): Commands {
  const text = content
    .map((item) => (typeof item['text'] === 'string' ? item['text'] : ''))
    .join(' ')
  const find = (names: string, value: string) =>
    new RegExp(`(?:^|\\s)--(?:${names})[ =]+(${value})(?=\\s|$)`).exec(text)?.[1]
  const resolution = find('resolution|rs', '480p|720p|1080p')
  const ratio = find('ratio|rt', '\\d{1,2}:\\d{1,2}|adaptive')
  const duration = Number(find('duration|dur', '-1|\\d{1,2}'))
  const frames = Number(find('frames', '\\d{1,3}'))
  const mostFrames = picturesIn(mostSeconds)
  return {
    ...(resolution !== undefined && { resolution }),
    ...(ratio !== undefined && { ratio }),
    ...((duration === -1 || isWithin(duration, fewestSeconds, mostSeconds)) && { duration }),
    ...(isWithin(frames, fewestFrames, mostFrames) && { frames }),
  }
}

const isWithin = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most

function lengthIn({ frames, duration }: Json): number | undefined {
  if (typeof frames === 'number') return Math.ceil(frames)
  if (typeof duration !== 'number') return undefined
  return picturesIn(duration === -1 ? mostSeconds : duration)
}

/** The larger of those given. */
const dearest = (...given: unknown[]): NativeResolution | undefined =>
  nativeResolutions.findLast((each) => given.includes(each))

/** Two that differ may mean either, which is what nobody knows yet. */
function ratioOf(field: unknown, command: string | undefined): string | undefined {
  const given = typeof field === 'string' ? field : command
  return command === undefined || command === given ? given : 'adaptive'
}

const usualResolution = (model: string): NativeResolution =>
  /-1-0-pro(?:-|$)/.test(model) ? '1080p' : '720p'

function usualRatio(model: string, content: readonly Json[]): string {
  if (!/-1-0-/.test(model)) return 'adaptive'
  return content.some(({ type }) => type === 'image_url') ? 'adaptive' : '16:9'
}
