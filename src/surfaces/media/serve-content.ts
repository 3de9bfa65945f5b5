// A finished file as a download: the bytes under the gateway's own headers, whole or a part. Knows no
// dialect.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Task } from '../../contract/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Content, openContent } from '../../engine/tasks/open-content.ts'
import { answerHeaders, type Exchange } from '../../http/exchange.ts'

export async function serveContent(
  engine: Engine,
  x: Exchange,
  task: Task,
  fileName: string,
): Promise<Response | Refusal> {
  const headOnly = x.request.method === 'HEAD'
  x.connection.keepOpen()
  const content = await openContent(engine, task, headOnly ? undefined : rangeOf(x))
  if (content instanceof Refusal) return content
  const headers = contentHeaders(x, fileName, content)
  const body = headOnly ? await dropped(content) : await bodyOf(content)
  return body instanceof Refusal ? body : new Response(body, { status: content.status, headers })
}

/** Nobody will read it, and an open body keeps its connection. */
async function dropped({ body }: Content): Promise<null> {
  await body.cancel().catch(() => {})
  return null
}

/** Up to here a body is read before it is passed on. */
const wholeBytes = 4 * 1024 * 1024

/**
 * The server sends a stream in chunks, without its length. A short one, such as the parts that
 * players ask for, is gathered, so that its length is told and a broken one is an error.
 */
async function bodyOf({ body, lengthBytes }: Content): Promise<Content['body'] | Buffer | Refusal> {
  if (lengthBytes === undefined || lengthBytes > wholeBytes) return body
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > lengthBytes) break
      chunks.push(chunk)
    }
  } catch (cause) {
    return brokenOff(cause)
  }
  return size === lengthBytes ? Buffer.concat(chunks, size) : brokenOff(`${size} bytes`)
}

const brokenOff = (cause: unknown): Refusal =>
  refuse('upstream_invalid_response', 'the video could not be read completely', { cause })

/**
 * One range of bytes. Anything else means the whole, and so does a condition: there is no version
 * of the file that a caller could have named in it.
 */
function rangeOf({ request: { headers } }: Exchange): string | undefined {
  const range = headers.get('range')?.trim()
  if (range === undefined || headers.has('if-range')) return undefined
  return /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/.test(range) ? range : undefined
}

function contentHeaders(
  x: Exchange,
  fileName: string,
  { contentType, lengthBytes, contentRange }: Content,
): Record<string, string> {
  const headers = answerHeaders(x, contentType)
  headers['accept-ranges'] = 'bytes'
  headers['content-disposition'] = `inline; filename="${fileName}"`
  headers['x-content-type-options'] = 'nosniff'
  if (lengthBytes !== undefined) headers['content-length'] = String(lengthBytes)
  if (contentRange !== undefined && /^bytes \d+-\d+\/(?:\d+|\*)$/.test(contentRange)) {
    headers['content-range'] = contentRange
  }
  return headers
}
