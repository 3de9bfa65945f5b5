// A multipart body from a caller that is already known, as the same plain fields that JSON gives:
// `a[b]` is a field of an object, `a[]` one more in a list. Bounded in size, time, number and depth.
import { Refusal, refuse } from '../contract/errors.ts'
import { isObject } from '../lib/json.ts'
import type { Exchange } from './exchange.ts'
import type { BodyLimits } from './read-json.ts'

/** A file of a form. Nothing that JSON can hold looks like it. */
export interface Upload {
  /** As the caller declared it; may be empty. */
  type: string
  bytes: Uint8Array
}

export interface FormBody {
  /** Texts, uploads, and objects and lists of these. */
  fields: Readonly<Record<string, unknown>>
}

export const isUpload = (value: unknown): value is Upload =>
  isObject(value) && value['bytes'] instanceof Uint8Array

export const isForm = (x: Exchange): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(x.request.headers.get('content-type') ?? '')

const mostParts = 256
const deepestKey = 4

/** Size is checked before the first byte is read. */
export async function readForm(x: Exchange, limits: BodyLimits): Promise<FormBody | Refusal> {
  const { headers } = x.request
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    return refuse('unsupported_media_type', `a body with content-encoding ${encoding} is not taken`)
  }
  const bytes = await readBytes(x.request, limits)
  if (bytes instanceof Refusal) return bytes
  const type = headers.get('content-type') ?? ''
  try {
    const parts = [...(await new Response(bytes, { headers: { 'content-type': type } }).formData())]
    return await fieldsOf(parts)
  } catch (cause) {
    return refuse('invalid_request', 'the body is not a complete multipart form', { cause })
  }
}

async function readBytes(request: Request, limits: BodyLimits): Promise<Buffer | Refusal> {
  const { bodyBytes, bodyMs } = limits
  const tooLarge = refuse('request_too_large', `the body is larger than ${bodyBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > bodyBytes) return tooLarge
  if (request.body === null) return Buffer.alloc(0)
  const reader = request.body.getReader()
  let late = false
  const timer = setTimeout(() => {
    late = true
    reader.cancel().catch(() => {})
  }, bodyMs)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (late) break
      if (done) return Buffer.concat(chunks, size)
      size += value.byteLength
      if (size > bodyBytes) {
        reader.cancel().catch(() => {})
        return tooLarge
      }
      chunks.push(value)
    }
    return incomplete('too slow')
  } catch (cause) {
    return incomplete(cause)
  } finally {
    clearTimeout(timer)
  }
}

const incomplete = (cause: unknown): Refusal =>
  refuse('invalid_request', 'the request body did not arrive completely', { cause })

/** Objects without a prototype: a caller may name a part whatever it likes. */
type Branch = Record<string, unknown>
const newBranch = (): Branch => Object.create(null)

async function fieldsOf(parts: [string, string | File][]): Promise<FormBody | Refusal> {
  if (parts.length > mostParts) {
    return refuse('invalid_request', `a form may have at most ${mostParts} parts`)
  }
  const root = newBranch()
  for (const [name, part] of parts) {
    const keys = keysOf(name)
    const value = typeof part === 'string' ? part : { type: part.type, bytes: await part.bytes() }
    if (keys === undefined || !put(root, keys, value)) {
      const param = name.slice(0, 64)
      return refuse('invalid_request', `the form field '${param}' has no place`, { param })
    }
  }
  for (const key of Object.keys(root)) root[key] = withLists(root[key])
  return { fields: root }
}

/** a[b][] -> a, b, ''. Undefined when the brackets do not match or go too deep. */
function keysOf(name: string): string[] | undefined {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name)
  if (match === null) return undefined
  const inner = [...match[2]!.matchAll(/\[([^[\]]*)\]/g)].map(([, key]) => key!)
  return inner.length < deepestKey ? [match[1]!, ...inner] : undefined
}

/** False when the place is taken by something else. */
function put(into: Branch, [key = '', ...rest]: string[], value: unknown): boolean {
  if (rest.length === 0) return putLeaf(into, key, value)
  const inner = rest[0] === '' ? listAt(into, key) : branchAt(into, key)
  if (inner === undefined) return false
  if (!Array.isArray(inner)) return put(inner, rest, value)
  const deeper = rest.slice(1)
  if (deeper.length === 0) {
    inner.push(value)
    return true
  }
  // `a[][x]`, `a[][y]` are two fields of one; the next `a[][x]` begins another.
  const last: unknown = inner.at(-1)
  if (isBranch(last) && !(deeper[0]! in last)) return put(last, deeper, value)
  const next = newBranch()
  inner.push(next)
  return put(next, deeper, value)
}

/** A name that comes again makes a list. */
function putLeaf(into: Branch, key: string, value: unknown): boolean {
  const there = into[key]
  if (there === undefined) into[key] = value
  else if (Array.isArray(there)) there.push(value)
  else if (isBranch(there)) return false
  else into[key] = [there, value]
  return true
}

function listAt(into: Branch, key: string): unknown[] | undefined {
  const there = into[key] ?? []
  into[key] = there
  if (Array.isArray(there)) return there
  if (isBranch(there)) return undefined
  const list = [there]
  into[key] = list
  return list
}

function branchAt(into: Branch, key: string): Branch | undefined {
  const there = into[key] ?? newBranch()
  into[key] = there
  return isBranch(there) ? there : undefined
}

const isBranch = (value: unknown): value is Branch => isObject(value) && !isUpload(value)

/** `a[0]`, `a[1]` are a list too; an object keeps such keys in the order of their numbers. */
function withLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLists)
  if (!isBranch(value)) return value
  const keys = Object.keys(value)
  const numbered = keys.length > 0 && keys.every((key) => /^(?:0|[1-9]\d{0,3})$/.test(key))
  if (numbered) return keys.map((key) => withLists(value[key]))
  for (const key of keys) value[key] = withLists(value[key])
  return value
}
