// The maximum of a create as this upstream may read it: body fields and text commands together, the
// most expensive value given, and the model's own maximum where that is unclear.

import {
  framesIn,
  framesPerSecond,
  maxNativeSeconds,
  type NativeResolution,
  nativeResolutions,
  nativeSize,
  pixelsAt,
} from '../../contract/media/video-size.ts'
import type { VideoOutlook } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../tasks/read-reply.ts'
import { buildBody } from './build-request.ts'
import { type Command, type CommandName, commandsIn } from './text-commands.ts'

const usualSeconds = 5
const maxFrames = framesIn(maxNativeSeconds)
/** Requested values beyond these are not trusted either. */
const boundSeconds = 600
const highestRate = 120
/** For an unreadable rate. */
const unclearRate = 60
const maxTextDepth = 6
/** Maximum characters of all texts that are searched for commands; prompts are far shorter. */
const maxRead = 64 * 1024

/** All values given for one option. */
interface Said {
  fields: unknown[]
  commands: Command[]
}

export function outlookOf(request: VideoRequest, plainModel: string): VideoOutlook {
  const body = buildBody(plainModel, request, '')
  const content = Array.isArray(body['content']) ? body['content'].filter(isObject) : []
  const texts = content.flatMap((item) => textsIn(item))
  const isLong = texts.reduce((sum, { length }) => sum + length, 0) > maxRead
  const read = isLong ? undefined : commandsIn(texts)
  const commands = read ?? []
  const said = (name: CommandName, ...fields: string[]): Said => ({
    fields: fields.map((field) => body[field]).filter((value) => value != null),
    commands: commands.filter((each) => each.name === name),
  })
  // A continued video may have any size, and so may commands in texts too long to be parsed.
  const isOpen = read === undefined || content.some(isDraft)
  const resolutions = said('resolution', 'resolution')
  const ratios = said('ratio', 'ratio')
  const durations = said('duration', 'duration')
  const frames = said('frames', 'frames')
  const rates = said('rate', 'framespersecond', 'fps')
  const hasSource = content.some(({ type }) => type === 'video_url')
  const held = isOpen
    ? maxFrames
    : boundFrames(durations, frames, rateOf(rates), hasSource ? maxNativeSeconds : usualSeconds)
  const resolution = isOpen ? '1080p' : dearest(resolutions, usualResolution(plainModel))
  const ratio = isOpen ? 'adaptive' : ratioOf(ratios, usualRatio(plainModel, content))
  const asked = askedFrames(durations, frames, rateOf(rates))
  const maxPixels = Math.max(
    ...[...valuesOf(resolutions), '1080p'].map((each) => pixelsAt(plainModel, String(each))),
  )
  const seconds = secondsIn(held, frames, rateOf(rates))
  return {
    bound: {
      seconds,
      tokens: tokens(pixelsOf(plainModel, resolution, ratio), held),
      resolution,
      maxSeconds: Math.max(seconds, (asked - 1) / framesPerSecond),
      maxTokens: tokens(maxPixels, Math.max(maxFrames, asked, held)),
    },
    expected: expectedOf(body, commands, plainModel, content),
  }
}

/** The first frame counts in addition to those of every second, unless frames were counted. */
const secondsIn = (held: number, { fields, commands }: Said, rate: number): number =>
  fields.length + commands.length > 0 ? held / rate : (held - 1) / rate

const tokens = (pixels: number, frames: number): number => Math.round((pixels * frames) / 1024)

const isDraft = (item: Json): boolean => 'draft_task' in item || item['type'] === 'draft_task'

/** Every text except URLs, anywhere in the body. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return isInert(value) ? [] : [value]
  if (typeof value !== 'object' || value === null || depth >= maxTextDepth) return []
  return Object.values(value).flatMap((each) => textsIn(each, depth + 1))
}

/** A URL: it has no command. A long one is bytes, which contain no dash of any kind. */
function isInert(text: string): boolean {
  if (text.length <= maxRead) return /^(?:data|https?):\S*$/i.test(text)
  const [head] = /^data:[^,]{0,256},/i.exec(text) ?? []
  if (head === undefined || text.includes('-', head.length)) return false
  return Buffer.byteLength(text) === text.length
}

const valuesOf = ({ fields, commands }: Said): unknown[] => [
  ...fields,
  ...commands.map(({ value }) => value),
]

/** Whether the upstream may still use its own default. */
const mayBeDefault = ({ fields, commands }: Said): boolean =>
  fields.length === 0 && !commands.some(({ isDocumented }) => isDocumented)

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const [, digits] =
    /^(\d{1,9}(?:\.\d{1,9})?)(?:s|secs?|seconds?|f|fps|frames?)?$/.exec(String(value)) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const isWithin = (value: number | undefined, max: number): value is number =>
  value !== undefined && value > 0 && value <= max

function boundFrames(durations: Said, frames: Said, rate: number, usual: number): number {
  const max = Math.max(maxFrames, rate * maxNativeSeconds + 1)
  const byTime = valuesOf(durations)
    .map(numberIn)
    .map((seconds) => (isWithin(seconds, maxNativeSeconds) ? framesAt(rate, seconds) : max))
  const byCount = valuesOf(frames)
    .map(numberIn)
    .map((count) => (isWithin(count, maxFrames) ? Math.ceil(count) : max))
  const isOpen = mayBeDefault(durations) && mayBeDefault(frames)
  return Math.max(...byTime, ...byCount, ...(isOpen ? [framesAt(rate, usual)] : []))
}

const framesAt = (rate: number, seconds: number): number => Math.ceil(rate * seconds) + 1

/** As requested in numbers, whatever the model can do. */
function askedFrames(durations: Said, frames: Said, rate: number): number {
  const seconds = valuesOf(durations).map((value) => numberIn(value) ?? 0)
  const counts = valuesOf(frames).map((value) => numberIn(value) ?? 0)
  const asked = Math.max(0, ...seconds.map((each) => each * rate + 1), ...counts)
  return Math.min(Math.ceil(asked), boundSeconds * framesPerSecond)
}

/** Never below the models' own frame rate: a lower one may be ignored. */
const rateOf = (rates: Said): number =>
  Math.max(
    framesPerSecond,
    ...valuesOf(rates).map((value) => {
      const rate = numberIn(value)
      return isWithin(rate, highestRate) ? rate : unclearRate
    }),
  )

function dearest(said: Said, usual: NativeResolution): NativeResolution {
  const values = valuesOf(said).map(knownResolution)
  if (mayBeDefault(said)) values.push(usual)
  return nativeResolutions.findLast((each) => values.includes(each)) ?? '1080p'
}

/** An unknown one may be the largest. */
const knownResolution = (value: unknown): NativeResolution =>
  nativeResolutions.find((each) => each === value || each === `${value}p`) ?? '1080p'

/** With two different values, either may apply. */
function ratioOf(said: Said, usual: string): string {
  const values = new Set(valuesOf(said).map(String))
  if (mayBeDefault(said)) values.add(usual)
  const [only = usual] = values
  return values.size === 1 ? only : 'adaptive'
}

function pixelsOf(model: string, resolution: NativeResolution, ratio: string): number {
  const size = nativeSize(model, resolution, ratio)
  return size === undefined ? pixelsAt(model, resolution) : size.width * size.height
}

const usualResolution = (model: string): NativeResolution =>
  /-1-0-pro(?:-|$)/.test(model) ? '1080p' : '720p'

function usualRatio(model: string, content: readonly Json[]): string {
  if (!/-1-0-/.test(model)) return 'adaptive'
  return content.some(({ type }) => type === 'image_url') ? 'adaptive' : '16:9'
}

/** Fields before commands, as the upstream documents it. */
function expectedOf(
  body: Json,
  commands: readonly Command[],
  model: string,
  content: readonly Json[],
): VideoOutlook['expected'] {
  const settingOf = (name: CommandName, field: string): unknown =>
    body[field] ?? commands.findLast((each) => each.name === name)?.value
  const frames = numberIn(settingOf('frames', 'frames'))
  const duration =
    body['duration'] === -1 ? maxNativeSeconds : numberIn(settingOf('duration', 'duration'))
  const resolution = settingOf('resolution', 'resolution')
  const ratio = settingOf('ratio', 'ratio')
  return {
    seconds: isWithin(frames, boundSeconds * framesPerSecond)
      ? frames / framesPerSecond
      : isWithin(duration, boundSeconds)
        ? duration
        : usualSeconds,
    resolution: nativeResolutions.find((each) => each === resolution) ?? usualResolution(model),
    ratio: typeof ratio === 'string' ? ratio : usualRatio(model, content),
  }
}
