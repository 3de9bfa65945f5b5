// Fetches finished images in parallel, as Base64, for a caller that wants no URLs. Guarded like
// any download of a result; only bytes that start like an image count as one.
import type { ContentBody } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { ImageTask, OutputMedia } from '../../../contract/task.ts'
import { plainBase64After, toBase64 } from '../../../lib/json/json-thread.ts'
import { imageTypeOf } from '../../../lib/text/image-type.ts'
import { type ContentDeps, dropContent, openContent } from '../open-content.ts'
import { startOfBase64 } from './inline-image.ts'

const maxBytes = 32 * 1024 * 1024
/** For all images of one answer, which is held in memory as a whole. */
const maxBytesTogether = 128 * 1024 * 1024
const maxMs = 60_000

/** The remaining size for the images of one answer. */
interface Room {
  bytes: number
}

export async function fetchImages(
  deps: ContentDeps,
  task: ImageTask,
  media: readonly OutputMedia[],
): Promise<readonly (string | undefined)[]> {
  const signal = AbortSignal.timeout(maxMs)
  const room: Room = { bytes: maxBytesTogether }
  const asked = { ...task, media }
  return Promise.all(
    media.map(async ({ url }, part) => {
      if (url.startsWith('data:')) return inline(url, room, task.accountId)
      const bytes = await download(deps, asked, part, room, signal)
      if (bytes === undefined || imageTypeOf(bytes) === undefined) return undefined
      return toBase64(bytes, task.accountId)
    }),
  )
}

async function inline(url: string, room: Room, accountId: string): Promise<string | undefined> {
  const from = startOfBase64(url)
  if (from === undefined) return undefined
  const size = Math.floor(((url.length - from) * 3) / 4)
  const opening = Buffer.from(url.slice(from, from + openingLetters), 'base64')
  if (imageTypeOf(opening) === undefined || !take(room, size, size)) return undefined
  return plainBase64After('', url, from, accountId)
}

/** Enough to tell that it is an image. */
const openingLetters = 64

async function download(
  deps: ContentDeps,
  task: ImageTask,
  part: number,
  room: Room,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const content = await openContent(deps, task, { file: part, signal, noRedirect: true })
  if (content instanceof Refusal) return undefined
  if (content.status !== 200) {
    await dropContent(content)
    return undefined
  }
  try {
    return await readAll(content, room)
  } catch (error) {
    deps.log.info('image download failed', { task_id: task.id, part, error })
    return undefined
  }
}

/** Undefined when it is too large, or shorter than announced. */
async function readAll(
  content: ContentBody,
  room: Room,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { body, lengthBytes } = content
  const stream = body instanceof Blob ? body.stream() : body
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    // Leaving the loop ends the download.
    if (!take(room, chunk.byteLength, size)) return undefined
    chunks.push(chunk)
  }
  if (lengthBytes !== undefined && size !== lengthBytes) return undefined
  return Buffer.concat(chunks, size)
}

function take(room: Room, bytes: number, size: number): boolean {
  room.bytes -= bytes
  return size <= maxBytes && room.bytes >= 0
}
