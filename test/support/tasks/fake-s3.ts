// A small S3-compatible store in memory. It believes nobody: every signature is worked out again from
// what came over the wire.
import { createHash, createHmac } from 'node:crypto'

export interface FakeS3 {
  url: string
  /** Whole files by bucket and name. */
  objects: Map<string, Uint8Array>
  /** Uploads that were begun and neither ended nor aborted. */
  uploads: Map<string, Map<number, Uint8Array>>
  /** Method, path and query of every request. */
  requests: string[]
  /** The next requests are answered with this status. */
  failNext(status: number, times: number): void
  stop(): Promise<void>
}

export const s3Keys = { access: 'AKIDTEST', secret: 'test-s3-secret-0123456789' }
export const s3Region = 'test-1'

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Uint8Array, text: string) =>
  createHmac('sha256', key).update(text).digest()

function isSigned(request: Request, url: URL, body: Uint8Array): boolean {
  const told = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/
  const [, credential = '', names = '', signature] =
    told.exec(request.headers.get('authorization') ?? '') ?? []
  const date = request.headers.get('x-amz-date') ?? ''
  const scope = `${date.slice(0, 8)}/${s3Region}/s3/aws4_request`
  const bodyHash = sha256(body)
  const required = ['host', 'x-amz-content-sha256', 'x-amz-date']
  if (credential !== `${s3Keys.access}/${scope}`) return false
  if (!required.every((name) => names.split(';').includes(name))) return false
  if (request.headers.get('x-amz-content-sha256') !== bodyHash) return false
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)}\n`)
  const query = url.search.slice(1).split('&').sort().join('&')
  const canonical = [request.method, url.pathname, query, headers.join(''), names, bodyHash]
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical.join('\n'))].join('\n')
  const key = scope.split('/').reduce<string | Uint8Array>(hmac, `AWS4${s3Keys.secret}`)
  return hmac(key, text).toString('hex') === signature
}

export function startFakeS3(): FakeS3 {
  const objects: FakeS3['objects'] = new Map()
  const uploads: FakeS3['uploads'] = new Map()
  const requests: string[] = []
  let failure = { status: 0, times: 0 }

  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    requests.push(`${request.method} ${url.pathname}${url.search}`)
    if (!isSigned(request, url, body)) return problem(403, 'SignatureDoesNotMatch')
    if (failure.times > 0) {
      failure.times--
      return problem(failure.status, 'SlowDown')
    }
    const uploadId = url.searchParams.get('uploadId')
    if (uploadId !== null) return answerUpload(request.method, url, uploadId, body)
    if (request.method === 'POST' && url.searchParams.has('uploads')) return begin()
    if (request.method === 'PUT') return put(url.pathname, body)
    if (request.method === 'DELETE') {
      objects.delete(url.pathname)
      return new Response(null, { status: 204 })
    }
    return get(url.pathname, request.headers.get('range'))
  }

  const begin = () => {
    const id = crypto.randomUUID()
    uploads.set(id, new Map())
    return new Response(`<R><UploadId>${id}</UploadId></R>`)
  }

  const put = (path: string, body: Uint8Array) => {
    objects.set(path, body)
    return new Response(null, { headers: { etag: `"${sha256(body).slice(0, 32)}"` } })
  }

  const answerUpload = (method: string, url: URL, id: string, body: Uint8Array): Response => {
    const parts = uploads.get(id)
    if (parts === undefined) return problem(404, 'NoSuchUpload')
    if (method === 'PUT') {
      parts.set(Number(url.searchParams.get('partNumber')), body)
      return new Response(null, { headers: { etag: `"${sha256(body).slice(0, 32)}"` } })
    }
    uploads.delete(id)
    if (method === 'DELETE') return new Response(null, { status: 204 })
    const listed = [...new TextDecoder().decode(body).matchAll(/<PartNumber>(\d+)</g)]
    objects.set(url.pathname, Buffer.concat(listed.map(([, number]) => parts.get(Number(number))!)))
    return new Response('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }

  const get = (path: string, range: string | null): Response => {
    const found = objects.get(path)
    if (found === undefined) return problem(404, 'NoSuchKey')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
    if (first === undefined) return new Response(found.slice())
    if (Number(first) >= found.length) return problem(416, 'InvalidRange')
    const part = found.slice(Number(first), Number(last) + 1)
    return new Response(part, { status: 206 })
  }

  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  return {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    uploads,
    requests,
    failNext(status, times) {
      failure = { status, times }
    },
    stop: () => server.stop(true),
  }
}

const problem = (status: number, code: string) =>
  new Response(`<Error><Code>${code}</Code></Error>`, { status })
