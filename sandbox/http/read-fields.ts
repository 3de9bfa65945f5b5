// Reads the body of a call: a JSON object or, where a route takes them, a form as browsers and SDKs
// send it. Files are reduced to size and checksum.

import { audioSeconds } from '../../src/lib/audio/measure.ts'
import type { Fault, Route } from '../protocol.ts'
import { asObject, type Json } from './fields.ts'

/** A file of a form. */
interface FormFile {
  file: string
  type: string
  bytes: number
  sha256: string
  /** Of sound that can be measured. */
  seconds?: number
  /** Where the route keeps files. */
  text?: string
}

const formType = /^multipart\/form-data\b/i
const maxParts = 100

/** Two names, because a body may have any fields, including those of a fault. */
type ReadFields = { fields: Json } | { fault: Fault }

const wrongBody = (message: string): ReadFields => ({ fault: { status: 400, message } })

export async function readFields(
  raw: Uint8Array<ArrayBuffer>,
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  { bodyOptional = method !== 'POST', takesForms = false, keepsFiles = false }: Route,
): Promise<ReadFields> {
  if (raw.length === 0 && bodyOptional) return { fields: {} }
  const contentType = headers.get('content-type') ?? ''
  if (takesForms && formType.test(contentType)) return readForm(raw, contentType, keepsFiles)
  const fields = readObject(raw)
  return fields ? { fields } : wrongBody('The body of the request is not a JSON object.')
}

function readObject(raw: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(raw))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return asObject(value)
  } catch {
    return undefined
  }
}

async function readForm(
  raw: Uint8Array<ArrayBuffer>,
  contentType: string,
  keepsFiles: boolean,
): Promise<ReadFields> {
  const form = await parseForm(raw, contentType)
  if (form === undefined) return wrongBody('The body of the request is not a proper form.')
  const fields: Record<string, unknown> = Object.create(null)
  const parts = [...form]
  if (parts.length > maxParts) return wrongBody(`The form has more than ${maxParts} parts.`)
  for (const [name, part] of parts) {
    const value = typeof part === 'string' ? part : await describeFile(part, keepsFiles)
    // `image[]`, and a name that comes again, make a list.
    const list = name.endsWith('[]')
    const plain = list ? name.slice(0, -2) : name
    const before = fields[plain]
    if (before === undefined) fields[plain] = list ? [value] : value
    else fields[plain] = [...(Array.isArray(before) ? before : [before]), value]
  }
  return { fields }
}

async function parseForm(raw: Uint8Array<ArrayBuffer>, contentType: string) {
  try {
    return await new Response(raw, { headers: { 'content-type': contentType } }).formData()
  } catch {
    return undefined
  }
}

async function describeFile(file: File, keepsFiles: boolean): Promise<FormFile> {
  const bytes = await file.bytes()
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  const seconds = audioSeconds(bytes)
  return {
    file: file.name,
    type: file.type,
    bytes: bytes.length,
    sha256,
    ...(seconds !== undefined && { seconds }),
    ...(keepsFiles && { text: new TextDecoder().decode(bytes) }),
  }
}
