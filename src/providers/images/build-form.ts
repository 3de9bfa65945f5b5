// Multipart form with files, as the SDKs of this style write it: one file is `image`, several are
// `image[]`.
import { randomUUID } from 'node:crypto'
import type { Base64Part } from '../../lib/base64.ts'
import { bytesBetweenLong } from '../../lib/json/json-thread.ts'

/** In Base64. */
interface File extends Base64Part {
  type: string
}

/** Undefined when a file is no Base64. */
export async function buildForm(
  words: Readonly<Record<string, string | number>>,
  files: readonly File[],
  queueKey: string | undefined,
): Promise<{ type: string; bytes: Uint8Array } | undefined> {
  const boundary = `form-${randomUUID()}`
  const name = files.length === 1 ? 'image' : 'image[]'
  const texts: string[] = []
  let text = ''
  const open = (about: string) => {
    text += `--${boundary}\r\n${about}\r\n\r\n`
  }
  for (const [word, value] of Object.entries(words)) {
    open(`Content-Disposition: form-data; name="${word}"`)
    text += `${value}\r\n`
  }
  for (const [index, { type }] of files.entries()) {
    const file = `image-${index + 1}.${type.replace(/^image\//, '').replace(/\W.*$/, '')}`
    const disposition = `form-data; name="${name}"; filename="${file}"`
    open(`Content-Disposition: ${disposition}\r\nContent-Type: ${type}`)
    texts.push(text)
    text = '\r\n'
  }
  texts.push(`${text}--${boundary}--\r\n`)
  const bytes = await bytesBetweenLong(texts, files, queueKey)
  return bytes && { type: `multipart/form-data; boundary=${boundary}`, bytes }
}
