// A multipart body from a caller that is already known, as the same plain fields that JSON gives:
// `a[b]` is a field of an object, `a[]` one more in a list. Bounded in size, time, number and depth.
import { Refusal, refuse } from '../../contract/errors.ts'
import { decodeLong, longTextBytes } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { nextTurn } from '../../lib/turns.ts'
import type { RequestContext } from '../request-context.ts'
import { inexactKey, type Keys } from './exact-keys.ts'
import { type FormPart, partsOf } from './multipart.ts'
import { readBytes } from './read-bytes.ts'
import type { BodyLimits } from './read-json.ts'

/** A file of a form. No JSON value is an instance of it. */
export interface Upload {
  /** As the caller declared it; may be empty. */
  type: string
  /** As the caller named it; absent: it did not. */
  fileName?: string
  bytes: Uint8Array<ArrayBuffer>
  /** The same as text, once it is written. */
  dataUri?: string
}

interface FormBody {
  /** Texts, uploads, and objects and lists of these. */
  fields: Readonly<Record<string, unknown>>
}

export const isUpload = (value: unknown): value is Upload =>
  isObject(value) && value['bytes'] instanceof Uint8Array

export const isForm = (x: RequestContext): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(x.request.headers.get('content-type') ?? '')

const maxParts = 256
const maxKeyDepth = 4

/** Size is checked before the first byte is read. `lists`: the only fields that may come twice. */
export async function readForm(
  x: RequestContext,
  limits: BodyLimits,
  keys?: Keys,
  lists?: ReadonlySet<string>,
): Promise<FormBody | Refusal> {
  const { headers } = x.request
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    return refuse('unsupported_media_type', `a body with content-encoding ${encoding} is not taken`)
  }
  const bytes = await readBytes(x, limits)
  if (bytes instanceof Refusal) return bytes
  await nextTurn()
  const parts = partsOf(bytes, headers.get('content-type') ?? '', maxParts)
  if (parts === 'too_many') {
    return refuse('invalid_request', `a form may have at most ${maxParts} parts`)
  }
  if (parts === undefined) {
    return refuse('invalid_request', 'the body is not a complete multipart form')
  }
  const body = fieldsOf(await decoded(parts, x.payer), lists)
  if (body instanceof Refusal || keys === undefined) return body
  return inexactKey(body.fields, keys) ?? body
}

interface Field {
  name: string
  value: string | Upload
}

async function decoded(parts: readonly FormPart[], account: string | undefined): Promise<Field[]> {
  const fields: Field[] = []
  let inThisTurn = 0
  for (const { name, type, fileName, content } of parts) {
    if (type !== undefined) {
      const value: Upload = { type, bytes: content }
      if (fileName !== undefined) value.fileName = fileName
      fields.push({ name, value })
      continue
    }
    inThisTurn += content.length
    if (inThisTurn > longTextBytes) {
      await nextTurn()
      inThisTurn = content.length
    }
    const isLong = content.length > longTextBytes
    fields.push({ name, value: isLong ? await decodeLong(content, account) : content.toString() })
  }
  return fields
}

/** Objects without a prototype: a caller may name a part `__proto__`. */
type Branch = Record<string, unknown>
const newBranch = (): Branch => Object.create(null)

function fieldsOf(
  fields: readonly Field[],
  lists: ReadonlySet<string> | undefined,
): FormBody | Refusal {
  const root = newBranch()
  for (const { name, value } of fields) {
    const keys = keysOf(name)
    const param = name.slice(0, 64)
    if (keys?.length === 1 && name in root && lists?.has(name) === false) {
      return refuse('invalid_request', `the form field '${param}' is given twice`, { param })
    }
    if (keys === undefined || !put(root, keys, value)) {
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
  return inner.length < maxKeyDepth ? [match[1]!, ...inner] : undefined
}

/** False when another value is already there. */
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
