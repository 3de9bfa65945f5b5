// A JSON body from a caller that is already known: bounded in size, time and depth.
import { type Refusal, refuse } from '../contract/errors.ts'
import { readText } from '../lib/bounded-body.ts'
import { isObject, parseJson } from '../lib/json.ts'
import type { Exchange } from './exchange.ts'

export interface BodyLimits {
  bodyBytes: number
  bodyMs: number
  jsonDepth: number
}

export interface JsonBody {
  text: string
  fields: Readonly<Record<string, unknown>>
}

/** An object, and the text it came from. Size is checked before the first byte is read. */
export async function readJsonObject(x: Exchange, limits: BodyLimits): Promise<JsonBody | Refusal> {
  const { headers } = x.request
  const type = headers.get('content-type')
  if (type !== null && !isJson(type)) {
    return refuse('unsupported_media_type', `send the body as application/json, not ${type}`)
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    return refuse('unsupported_media_type', `a body with content-encoding ${encoding} is not taken`)
  }
  const text = await readBody(x, limits)
  if (typeof text !== 'string') return text
  const parsed = parseJson(text, limits.jsonDepth)
  if ('problem' in parsed) return refuse('invalid_json', parsed.problem)
  if (!isObject(parsed.value)) return refuse('invalid_json', 'the body must be a JSON object')
  return { text, fields: parsed.value }
}

const isJson = (type: string): boolean => {
  const essence = type.split(';', 1)[0]!.trim().toLowerCase()
  return essence === 'application/json' || essence.endsWith('+json')
}

/** A body of any kind, as text. */
export async function readBody(x: Exchange, limits: BodyLimits): Promise<string | Refusal> {
  const declared = Number(x.request.headers.get('content-length') ?? 0)
  if (declared > limits.bodyBytes) return tooLarge(limits)
  try {
    const reading = readText(x.request, limits.bodyBytes)
    // A small body comes with its headers or soon after; the connection's idle limit covers it.
    const small = declared > 0 && declared <= smallBytes
    const text = await (small ? reading : withinMs(reading, limits.bodyMs))
    return text ?? tooLarge(limits)
  } catch (cause) {
    return refuse('invalid_request', 'the request body did not arrive completely', { cause })
  }
}

const smallBytes = 64 * 1024

const tooLarge = ({ bodyBytes }: BodyLimits): Refusal =>
  refuse('request_too_large', `the body is larger than ${bodyBytes} bytes`)

async function withinMs<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), limitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
