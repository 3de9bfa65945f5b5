// The parts of a chat message's content.
import { isObject } from '../../lib/json/parse.ts'
import type { CacheMark, Json, MediaPart, Part, TextPart } from '../common/conversation.ts'
import { mediaSource, readDataUrl } from '../common/data-url.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { loseUnknown } from './fields.ts'

/** A text, or a list of parts; null is no content. */
export function readContent(content: unknown, at: string, reading: RequestReading): Part[] {
  if (content == null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) {
    reading.wrong(at, 'a string or an array of parts')
    return []
  }
  return content.flatMap((part, index) => readPart(part, `${at}[${index}]`, reading) ?? [])
}

/** Content of a role that has text only. */
export function readTexts(content: unknown, at: string, reading: RequestReading): TextPart[] {
  return readContent(content, at, reading).filter((part) => {
    if (part.type === 'text') return true
    reading.refuse(at, 'instructions hold text only')
    return false
  }) as TextPart[]
}

function readPart(part: unknown, at: string, reading: RequestReading): Part | undefined {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isObject(part)) return reading.wrong(at, 'an object')
  loseUnknown(part, 'messages.content.', reading.losses)
  const cache = markOf(part, reading)
  const read = readers[String(part['type'])]
  if (read === undefined || !Object.hasOwn(readers, String(part['type']))) {
    const type = String(part['type']).slice(0, 64)
    return reading.refuse(`${at}.type`, `a part of the type '${type}' cannot be translated`)
  }
  const found = read(part, `${at}.`, reading)
  return found === undefined || cache === undefined ? found : ({ ...found, cache } as Part)
}

type ReadPart = (part: Json, at: string, reading: RequestReading) => Part | undefined

const readers: Readonly<Record<string, ReadPart>> = {
  text: (part, at, reading) => ({ type: 'text', text: reading.requiredText(part, 'text', at) }),
  refusal: (part, at, reading) => ({
    type: 'refusal',
    text: reading.requiredText(part, 'refusal', at),
  }),
  image_url: (part, at, reading) => mediaByUrl('image', part, at, reading),
  video_url: (part, at, reading) => mediaByUrl('video', part, at, reading),
  input_audio: readAudio,
  file: readFile,
}

/** Two spellings for the end of a prefix that an upstream keeps. */
export function markOf(
  { cache_control: control, prompt_cache_breakpoint: point }: Json,
  { losses }: RequestReading,
): CacheMark | undefined {
  if (isObject(point)) loseUnknown(point, 'prompt_cache_breakpoint.', losses)
  if (isObject(control)) {
    loseUnknown(control, 'cache_control.', losses)
    return typeof control['ttl'] === 'string' ? { ttl: control['ttl'] } : {}
  }
  return isObject(point) ? {} : undefined
}

function mediaByUrl(
  type: 'image' | 'video',
  part: Json,
  at: string,
  reading: RequestReading,
): MediaPart | undefined {
  const name = `${type}_url`
  const given = part[name]
  const holder = typeof given === 'string' ? { url: given } : reading.object(part, name, at)
  if (holder === undefined) return reading.wrong(at + name, 'an object')
  loseUnknown(holder, `messages.content.${type}_url.`, reading.losses)
  const url = reading.requiredText(holder, 'url', `${at}${name}.`)
  const detail = reading.text(holder, 'detail', `${at}${name}.`)
  return { type, ...mediaSource(url), ...present({ detail }) }
}

function readAudio(part: Json, at: string, reading: RequestReading): MediaPart | undefined {
  const audio = reading.object(part, 'input_audio', at)
  if (audio === undefined) return reading.wrong(`${at}input_audio`, 'an object')
  loseUnknown(audio, 'messages.content.input_audio.', reading.losses)
  const given = reading.requiredText(audio, 'data', `${at}input_audio.`)
  const format = reading.text(audio, 'format', `${at}input_audio.`) ?? 'wav'
  const source = readDataUrl(given) ?? { data: given, mimeType: `audio/${format}` }
  return { type: 'audio', ...source }
}

function readFile(part: Json, at: string, reading: RequestReading): MediaPart | undefined {
  const file = reading.object(part, 'file', at) ?? {}
  loseUnknown(file, 'messages.content.file.', reading.losses)
  if (file['file_id'] != null) {
    return reading.refuse(
      `${at}file.file_id`,
      'a file that an upstream stores cannot be translated',
    )
  }
  const given = reading.requiredText(file, 'file_data', `${at}file.`)
  const name = reading.text(file, 'filename', `${at}file.`)
  const source = readDataUrl(given) ?? { data: given, mimeType: 'application/pdf' }
  const type = source.mimeType?.startsWith('image/') ? 'image' : 'document'
  return { type, ...source, ...present({ name }) }
}
