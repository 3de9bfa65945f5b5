// Parts of messages and of tool results in a responses request.
import { isObject } from '../../lib/json/parse.ts'
import { objectIn, textIn } from '../../lib/json/values.ts'
import type { CacheMark, Json, MediaPart, Part, TextPart } from '../common/conversation.ts'
import { mediaSource, mimeTypeOfName, readDataUrl } from '../common/data-url.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { isInnerKind, loseUnknown } from './field-names.ts'

/** Files that are kept upstream belong to another account there. */
const fileIds = 'files that are kept upstream cannot be used'

/** A text, or a list of parts. */
export function readContent(content: unknown, path: string, reading: RequestReading): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) {
    reading.wrong(path, 'a text or a list of parts')
    return []
  }
  return content.flatMap((part, index) => readPart(part, `${path}[${index}]`, reading))
}

function readPart(value: unknown, path: string, reading: RequestReading): Part[] {
  if (!isObject(value)) {
    reading.wrong(path, 'an object')
    return []
  }
  const type = textIn(value, 'type')
  const cache = cacheMark(value, reading)
  const kind = type?.endsWith('text') ? 'text' : (type ?? '')
  if (isInnerKind(kind)) loseUnknown(value, kind, reading.losses)
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(value, cache)
    case 'refusal':
      return refusalPart(value)
    case 'input_image':
      return mediaPart({ type: 'image', ...imageOf(value, path, reading), ...cache })
    case 'input_file':
      return mediaPart({ ...fileOf(value, path, reading), ...cache })
    case 'input_audio':
      return mediaPart({ ...audioOf(value, reading), ...cache })
    default:
      reading.refuse(`${path}.type`, `parts of the type '${type}' cannot be translated`)
      return []
  }
}

/** Exactly one source, or the part was refused. */
const mediaPart = (part: MediaPart): MediaPart[] =>
  part.data !== undefined || part.url !== undefined ? [part] : []

function cacheMark(part: Json, { losses }: RequestReading): { cache?: CacheMark } {
  const mark = part['prompt_cache_breakpoint']
  if (!isObject(mark)) return {}
  loseUnknown(mark, 'prompt_cache_breakpoint', losses)
  return { cache: {} }
}

/** No upstream takes an empty text. */
function textPart(part: Json, cache: { cache?: CacheMark }): TextPart[] {
  const text = textIn(part, 'text') ?? ''
  return text === '' ? [] : [{ type: 'text', text, ...cache }]
}

function refusalPart(part: Json): Part[] {
  const text = textIn(part, 'refusal') ?? ''
  return text === '' ? [] : [{ type: 'refusal', text }]
}

function imageOf(part: Json, path: string, reading: RequestReading): Omit<MediaPart, 'type'> {
  const image = part['image_url']
  const url = isObject(image) ? image['url'] : image
  if (typeof url === 'string')
    return { ...mediaSource(url), ...present({ detail: detailOf(part) }) }
  if (part['file_id']) reading.refuse(`${path}.file_id`, fileIds)
  else reading.wrong(`${path}.image_url`, 'a URL')
  return {}
}

/** `auto` is what every upstream does. */
function detailOf(part: Json): string | undefined {
  const detail = textIn(part, 'detail')
  return detail === 'auto' ? undefined : detail
}

function fileOf(part: Json, path: string, reading: RequestReading): MediaPart {
  const name = textIn(part, 'filename')
  const file = textIn(part, 'file_data')
  const url = textIn(part, 'file_url')
  const named = present({ name })
  if (file !== undefined) {
    const { data, mimeType } = readDataUrl(file) ?? { data: file }
    const type = mimeType ?? (name && mimeTypeOfName(name)) ?? 'application/pdf'
    return { type: 'document', mimeType: type, data, ...named }
  }
  if (url !== undefined) return { type: 'document', ...mediaSource(url), ...named }
  if (part['file_id']) reading.refuse(`${path}.file_id`, fileIds)
  else reading.wrong(`${path}.file_data`, 'a file')
  return { type: 'document' }
}

function audioOf(part: Json, { losses }: RequestReading): MediaPart {
  const audio = objectIn(part, 'input_audio') ?? part
  loseUnknown(audio, 'input_audio', losses)
  const format = textIn(audio, 'format') ?? 'wav'
  const mimeType = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  return { type: 'audio', mimeType, ...present({ data: textIn(audio, 'data') }) }
}
