// The fields of a call and its file as a form, as the SDKs of this style write it: `a[]` for lists, `a[b]` for objects.
import { randomUUID } from 'node:crypto'
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'

interface File {
  type: string
  fileName?: string
  bytes: Uint8Array
}

export function encodeForm(
  { fields, stream }: TextCall,
  { model, bodyEdits = {} }: Upstream,
): { type: string; bytes: Uint8Array } {
  const { file, stream: _, ...words } = fields
  const sent: Record<string, unknown> = { ...words, model, ...(stream && { stream: 'true' }) }
  for (const [name, value] of Object.entries(bodyEdits)) {
    if (value === '') delete sent[name]
    else sent[name] = JSON.parse(value)
  }
  const boundary = `form-${randomUUID()}`
  const parts: Uint8Array[] = []
  for (const [name, value] of Object.entries(sent)) {
    for (const [place, text] of textsOf(name, value)) {
      const head = `Content-Disposition: form-data; name="${plain(place)}"`
      parts.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n${text}\r\n`))
    }
  }
  const { type, fileName = 'audio', bytes } = file as File
  const head =
    `Content-Disposition: form-data; name="file"; filename="${plain(fileName)}"\r\n` +
    `Content-Type: ${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream'}`
  parts.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), bytes)
  parts.push(Buffer.from(`\r\n--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(parts) }
}

/** Names come from callers: none may end its line. */
const plain = (name: string): string => name.replaceAll(/[\p{Cc}"\\]/gu, '_').slice(-maxName)

const maxName = 256

function textsOf(name: string, value: unknown): [string, string][] {
  if (value == null) return []
  if (Array.isArray(value)) return value.flatMap((each) => textsOf(`${name}[]`, each))
  if (isObject(value)) {
    return Object.entries(value).flatMap(([key, each]) => textsOf(`${name}[${key}]`, each))
  }
  return [[name, String(value)]]
}
