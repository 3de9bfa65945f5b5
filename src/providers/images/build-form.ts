// Multipart form with files, as the SDKs of this style write it: one file is `image`, several are
// `image[]`.
import { randomUUID } from 'node:crypto'
import { nextTurn } from '../../lib/turns.ts'

interface File {
  type: string
  /** In Base64. */
  bytes: string
}

/** Images are large: each is decoded in an event loop turn of its own. */
export async function buildForm(
  words: Readonly<Record<string, string | number>>,
  files: readonly File[],
): Promise<{ type: string; bytes: Uint8Array }> {
  const boundary = `form-${randomUUID()}`
  const name = files.length === 1 ? 'image' : 'image[]'
  const parts: Buffer[] = []
  const open = (about: string) => parts.push(Buffer.from(`--${boundary}\r\n${about}\r\n\r\n`))
  for (const [word, value] of Object.entries(words)) {
    open(`Content-Disposition: form-data; name="${word}"`)
    parts.push(Buffer.from(`${value}\r\n`))
  }
  for (const [index, { type, bytes }] of files.entries()) {
    await nextTurn()
    const file = `image-${index + 1}.${type.replace(/^image\//, '').replace(/\W.*$/, '')}`
    const disposition = `form-data; name="${name}"; filename="${file}"`
    open(`Content-Disposition: ${disposition}\r\nContent-Type: ${type}`)
    parts.push(Buffer.from(bytes, 'base64'), Buffer.from('\r\n'))
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`))
  await nextTurn()
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(parts) }
}
