// Fetches the bytes of finished images in parallel, for a caller that wants no URLs. Guarded like
// any download of a result; only bytes that start like an image count as one.
import type { ContentBody } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { ImageTask, OutputMedia } from '../../../contract/task.ts'
import { imageTypeOf } from '../../../lib/text/image-type.ts'
import { type ContentDeps, dropContent, openContent } from '../open-content.ts'

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
): Promise<readonly (Uint8Array | undefined)[]> {
  const signal = AbortSignal.timeout(maxMs)
  const room: Room = { bytes: maxBytesTogether }
  const asked = { ...task, media }
  return Promise.all(
    media.map(async ({ url }, part) => {
      const bytes = url.startsWith('data:')
        ? decode(url, room)
        : await download(deps, asked, part, room, signal)
      return bytes !== undefined && imageTypeOf(bytes) !== undefined ? bytes : undefined
    }),
  )
}

function decode(url: string, room: Room): Uint8Array | undefined {
  const comma = url.indexOf(',')
  const base64 = url.slice(comma + 1)
  if (comma === -1 || !/;base64$/i.test(url.slice(0, comma))) return undefined
  const size = Math.floor((base64.length * 3) / 4)
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || !take(room, size, size)) return undefined
  return Buffer.from(base64, 'base64')
}

async function download(
  deps: ContentDeps,
  task: ImageTask,
  part: number,
  room: Room,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
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
async function readAll(content: ContentBody, room: Room): Promise<Uint8Array | undefined> {
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
