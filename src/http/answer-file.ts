// An answer as a file download. The file name is made safe for headers and disks.
import { answerHeaders, type RequestContext } from './request-context.ts'

export function answerTable(
  x: RequestContext,
  body: ReadableStream<Uint8Array>,
  fileName: string,
  type = 'text/csv; charset=utf-8',
): Response {
  const headers = answerHeaders(x, type)
  const name = fileName.replace(/[^\w.-]/g, '_')
  headers['content-disposition'] = `attachment; filename="${name}"`
  headers['cache-control'] = 'private, no-store'
  return new Response(body, { headers })
}
