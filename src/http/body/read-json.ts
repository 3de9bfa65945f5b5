// Reads a JSON body of an authenticated caller: bounded in size, time, depth and parsing work. A large one
// is scanned in turns that let the event loop run in between.
import { isUtf8 } from 'node:buffer'
import { Refusal, refuse } from '../../contract/errors.ts'
import { longTextBytes, readLong } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { parseParts } from '../../lib/json/parse-parts.ts'
import { JsonScan, type ScanProblem, scanShort, type WorkLimits } from '../../lib/json/scan.ts'
import { nextTurn } from '../../lib/turns.ts'
import type { RequestContext } from '../request-context.ts'
import { smallBodyBytes } from './body-room.ts'
import { inexactKey, type Keys } from './exact-keys.ts'
import { readBytes, readDeclaredText } from './read-bytes.ts'

export interface BodyLimits {
  bodyBytes: number
  bodyMs: number
  jsonDepth: number
}

export interface JsonBody {
  text: string
  fields: Readonly<Record<string, unknown>>
}

/** Parsing a text of this length takes a few milliseconds, whatever its shape. */
const shortText = 64 * 1024
/** What is not longer is parsed in turns, and never too much work. */
const mediumText = 128 * 1024
const anyWork: WorkLimits = { total: Number.POSITIVE_INFINITY, structure: Number.POSITIVE_INFINITY }
/** Steps of a scan in one turn; each takes some ten nanoseconds. */
const stepsPerTurn = 100_000

/** A few long strings in a small structure. */
const plainWork: WorkLimits = { total: 40e6, structure: 4e6 }

/**
 * An object, and the text it came from. Size is checked before the first byte is read. `keys`: the known
 * fields; without them, only duplicate keys are refused.
 */
export async function readJsonObject(
  x: RequestContext,
  limits: BodyLimits,
  keys?: Keys,
  work?: WorkLimits,
): Promise<JsonBody | Refusal> {
  const { headers } = x.request
  const type = headers.get('content-type')
  if (type !== null && !isJson(type)) {
    return refuse('unsupported_media_type', `send the body as application/json, not ${type}`)
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    return refuse('unsupported_media_type', `a body with content-encoding ${encoding} is not taken`)
  }
  let body: string | Buffer<ArrayBuffer> | Refusal
  try {
    body = await readBody(x, limits)
  } catch (cause) {
    return notComplete(cause)
  }
  const read =
    typeof body === 'string'
      ? readText(body, limits, work ?? plainWork)
      : body instanceof Refusal
        ? body
        : readBytesAside(body, limits, work, x.payer)
  const json = read instanceof Promise ? await read : read
  if (json instanceof Refusal || keys === undefined) return json
  // What parsing, this and the reading of a large body take together would be too long for one turn.
  const isLarge = json.text.length > smallBodyBytes
  if (isLarge) await nextTurn()
  const inexact = inexactKey(json.fields, keys)
  if (isLarge) await nextTurn()
  return inexact ?? json
}

const isJson = (type: string): boolean => {
  if (type === 'application/json') return true
  const essence = type.split(';', 1)[0]!.trim().toLowerCase()
  return essence === 'application/json' || essence.endsWith('+json')
}

/** Only white space may come before it, and not much of it. */
function beginsObject(text: string): boolean {
  for (let at = 0; at < maxLeadingSpace; at++) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && (code < 0x09 || code > 0x0d)) return code === 0x7b
  }
  return false
}

const maxLeadingSpace = 64 * 1024

function readText(
  text: string,
  limits: BodyLimits,
  work: WorkLimits,
): JsonBody | Refusal | Promise<JsonBody | Refusal> {
  if (!beginsObject(text)) return notAnObject
  if (text.length <= shortText) return parseShort(text, limits)
  return parseInTurns(text, limits, text.length <= mediumText ? anyWork : work)
}

function parseShort(text: string, limits: BodyLimits): JsonBody | Refusal {
  const problem = scanShort(text, limits.jsonDepth)
  if (problem !== undefined) return refusalFor(problem, limits)
  try {
    return asBody(text, JSON.parse(text))
  } catch (error) {
    return notJson((error as Error).message)
  }
}

async function parseInTurns(
  text: string,
  limits: BodyLimits,
  work: WorkLimits,
): Promise<JsonBody | Refusal> {
  const scan = new JsonScan(text, { depth: limits.jsonDepth, work })
  do await nextTurn()
  while (!scan.run(stepsPerTurn))
  await nextTurn()
  if (scan.problem !== undefined) return refusalFor(scan.problem, limits)
  try {
    return asBody(text, await parseParts(text, scan.cuts))
  } catch (error) {
    return notJson((error as Error).message)
  }
}

async function readBytesAside(
  bytes: Buffer<ArrayBuffer>,
  limits: BodyLimits,
  work: WorkLimits | undefined,
  account: string | undefined,
): Promise<JsonBody | Refusal> {
  if (!beginsObject(bytes.toString('latin1', 0, maxLeadingSpace))) return notAnObject
  try {
    // Text calls pass the body itself on, all others values of it.
    const isPassedOn = work !== undefined
    const usedWork = work ?? plainWork
    const read = await readLong(bytes, limits.jsonDepth, usedWork, !isPassedOn, account)
    if ('problem' in read) return refusalFor(read.problem, limits)
    if ('error' in read) return notJson(read.error)
    return asBody(read.text, read.value)
  } catch (cause) {
    return refuse('overloaded', 'the body could not be read; try again', { cause })
  }
}

function refusalFor(problem: ScanProblem, { jsonDepth }: BodyLimits): Refusal {
  switch (problem.kind) {
    case 'too_deep':
      return refuse('invalid_json', `JSON is nested deeper than ${jsonDepth} levels`)
    case 'prototype_key':
      return refuse(
        'invalid_json',
        'JSON must not contain the keys __proto__ or constructor.prototype',
      )
    case 'too_much_work':
      return refuse(
        'request_too_large',
        'the body has too many values, keys or escaped characters for one request',
      )
    case 'key_twice':
      return refuse('invalid_request', `the key '${problem.path}' is given twice`, {
        param: problem.path,
      })
  }
}

const notAnObject = refuse('invalid_json', 'the body must be a JSON object')

const asBody = (text: string, value: unknown): JsonBody | Refusal =>
  isObject(value) ? { text, fields: value } : notAnObject

const notJson = (why: string): Refusal => refuse('invalid_json', `body is not valid JSON: ${why}`)

/** A body of any kind, as text. */
export async function readTextBody(
  x: RequestContext,
  limits: BodyLimits,
): Promise<string | Refusal> {
  try {
    const body = await readBody(x, limits)
    return body instanceof Uint8Array ? body.toString() : body
  } catch (cause) {
    return notComplete(cause)
  }
}

/** Decoding a megabyte that is no UTF-8 takes 14 ms, twenty times as long as any other. */
const quickTextBytes = 1024 * 1024

/** As text; as bytes, if it is long, or no UTF-8 and not short. */
function readBody(
  x: RequestContext,
  limits: BodyLimits,
): Promise<string | Buffer<ArrayBuffer> | Refusal> {
  const declared = Number(x.request.headers.get('content-length') ?? 0)
  // A small body comes with its headers or soon after; the connection's idle limit covers it.
  if (declared > 0 && declared <= smallBodyBytes && declared <= limits.bodyBytes) {
    return x.request.text()
  }
  return declared > 0 && declared <= quickTextBytes && declared <= limits.bodyBytes
    ? readDeclaredText(x, limits, declared)
    : readLarge(x, limits)
}

const notComplete = (cause: unknown): Refusal =>
  refuse('invalid_request', 'the request body did not arrive completely', { cause })

async function readLarge(
  x: RequestContext,
  limits: BodyLimits,
): Promise<string | Buffer<ArrayBuffer> | Refusal> {
  const whole = await readBytes(x, limits)
  if (whole instanceof Refusal) return whole
  const bytes = hasMark(whole) ? whole.subarray(markBytes) : whole
  if (bytes.length > longTextBytes) return bytes
  if (bytes.length <= smallBodyBytes) return bytes.toString()
  await nextTurn()
  return isUtf8(bytes) ? bytes.toString() : bytes
}

const markBytes = 3
const hasMark = (bytes: Buffer): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
