// Kept files in an S3-compatible store: uploaded in parts, so that no file has to fit into memory, and
// read only as fast as the caller reads. The operator chooses the address; it may be private.
import type { ByteRange } from '../lib/http/byte-range.ts'
import { createHttpClient, type HttpAnswer, type HttpClient } from '../lib/http/client.ts'
import { type Signing, sha256Hex, signRequest } from './sign-request.ts'
import { checkName, type MediaStore, problemOf, Tally } from './store.ts'

interface S3Settings extends Signing {
  endpoint: string
  bucket: string
  prefix: string
  /** The bucket in the path instead of the host name. */
  pathStyle: boolean
}

/** The smallest part that stores accept; they take 10,000 of them. */
const defaultPartBytes = 5 * 1024 * 1024
const connectMs = 10_000
const sendMs = 120_000
const idleMs = 60_000
const maxTries = 3
const defaultRetryMs = 250
const maxReplyBytes = 1024 * 1024

export function openS3(
  settings: S3Settings,
  { nowMs = Date.now, partBytes = defaultPartBytes, retryMs = defaultRetryMs } = {},
): MediaStore {
  const bucket = new Bucket(settings, nowMs, retryMs)
  return {
    place: `s3:${placeOf(settings)}`,
    async write(name, body) {
      const upload = new Upload(bucket, checkName(name), partBytes)
      try {
        const tally = new Tally()
        for await (const piece of body) {
          tally.add(piece)
          await upload.add(piece)
        }
        await upload.end()
        return tally.end()
      } catch (error) {
        await upload.abort()
        return problemOf(error)
      }
    },
    open: (name, range) => bucket.read(checkName(name), range),
    async remove(name) {
      const status = await bucket.delete(checkName(name)).catch(() => 0)
      return status === 404 || (status >= 200 && status < 300)
    },
    // A lifecycle rule of the bucket removes parts of interrupted uploads.
    async tidy() {},
  }
}

const placeOf = ({ endpoint, bucket, prefix }: S3Settings): string =>
  sha256Hex([endpoint, bucket, prefix].join('\n')).slice(0, 12)

interface Reply {
  status: number
  text: string
  etag: string | undefined
}

/** Signed requests about one bucket. */
class Bucket {
  readonly #settings: S3Settings
  readonly #nowMs: () => number
  readonly #retryMs: number
  readonly #http: HttpClient = createHttpClient({ maxIdlePerOrigin: 16 })

  constructor(settings: S3Settings, nowMs: () => number, retryMs: number) {
    this.#settings = settings
    this.#nowMs = nowMs
    this.#retryMs = retryMs
  }

  #urlOf(name: string, query: Readonly<Record<string, string>> = {}): URL {
    const { endpoint, bucket, prefix, pathStyle } = this.#settings
    const url = new URL(endpoint)
    const base = url.pathname.replace(/\/+$/, '')
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${base}${pathStyle ? `/${bucket}` : ''}/${prefix}${name}`
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
    return url
  }

  #sign(method: string, url: URL, body: string | Uint8Array, headers?: Record<string, string>) {
    const unsigned = { method, url, payloadHash: sha256Hex(body), ...(headers && { headers }) }
    return signRequest(unsigned, this.#settings, this.#nowMs())
  }

  /** Retries on failure: the same bytes under the same name are idempotent. */
  async put(
    name: string,
    body: Uint8Array<ArrayBuffer>,
    query?: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const url = this.#urlOf(name, query)
    for (let tries = 1; ; tries++) {
      try {
        const headers = this.#sign('PUT', url, body)
        const signal = AbortSignal.timeout(sendMs)
        const answer = await fetch(url, {
          method: 'PUT',
          headers,
          body,
          signal,
          redirect: 'manual',
        })
        const text = (await answer.text()).slice(0, maxReplyBytes)
        if (answer.status < 500 || tries === maxTries) {
          return { status: answer.status, text, etag: answer.headers.get('etag') ?? undefined }
        }
      } catch (error) {
        if (tries === maxTries) throw error
      }
      await Bun.sleep(this.#retryMs * 2 ** tries)
    }
  }

  async post(name: string, query: Readonly<Record<string, string>>, body: string) {
    const url = this.#urlOf(name, query)
    const call = this.#http.post(url.href, this.#sign('POST', url, body), body, { connectMs })
    return readReply(call)
  }

  async delete(name: string, query?: Readonly<Record<string, string>>): Promise<number> {
    const url = this.#urlOf(name, query)
    return (
      await readReply(this.#http.delete(url.href, this.#sign('DELETE', url, ''), { connectMs }))
    ).status
  }

  async read(name: string, { first, last }: ByteRange) {
    const url = this.#urlOf(name)
    const headers = this.#sign('GET', url, '', { range: `bytes=${first}-${last}` })
    const call = this.#http.get(url.href, headers, { connectMs })
    const answer = await withIdleTimeout(call, call.answer)
    const length = Number(answer.header('content-length'))
    if (answer.status === 206 && length === last + 1 - first) return bodyOf(answer, call)
    answer.cancel()
    if (answer.status === 404 || answer.status === 416) return undefined
    throw new Error(`the media store answered ${answer.status}`)
  }
}

type Call = ReturnType<HttpClient['get']>

/** Cancels the call when nothing arrives for too long. */
async function withIdleTimeout<T>(call: Call, awaited: Promise<T>): Promise<T> {
  const timer = setTimeout(() => call.cancel(), idleMs)
  return awaited.finally(() => clearTimeout(timer))
}

async function readReply(call: Call): Promise<{ status: number; text: string }> {
  const answer = await withIdleTimeout(call, call.answer)
  const text = (await withIdleTimeout(call, answer.text(maxReplyBytes))) ?? ''
  return { status: answer.status, text }
}

function bodyOf(answer: HttpAnswer, call: Call): ReadableStream<Uint8Array> {
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const piece = await withIdleTimeout(call, answer.read())
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
    cancel: () => answer.cancel(),
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** One upload: a single request for a small file, else part by part. */
class Upload {
  readonly #bucket: Bucket
  readonly #name: string
  readonly #part: Uint8Array<ArrayBuffer>
  #filled = 0
  #id: string | undefined
  readonly #etags: string[] = []

  constructor(bucket: Bucket, name: string, partBytes: number) {
    this.#bucket = bucket
    this.#name = name
    this.#part = new Uint8Array(partBytes)
  }

  async add(piece: Uint8Array): Promise<void> {
    for (let taken = 0; taken < piece.byteLength; ) {
      if (this.#filled === this.#part.length) await this.#sendPart()
      const some = piece.subarray(taken, taken + this.#part.length - this.#filled)
      this.#part.set(some, this.#filled)
      this.#filled += some.byteLength
      taken += some.byteLength
    }
  }

  async end(): Promise<void> {
    if (this.#id === undefined) {
      const { status } = await this.#bucket.put(this.#name, this.#part.subarray(0, this.#filled))
      if (status !== 200) throw new Error(`the media store answered ${status}`)
      return
    }
    await this.#sendPart()
    const parts = this.#etags.map(
      (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
    )
    const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const { status, text } = await this.#bucket.post(this.#name, { uploadId: this.#id }, list)
    // The store may start a 200 reply before it knows the result.
    if (status !== 200 || !text.includes('<CompleteMultipartUploadResult')) {
      throw new Error(`the media store answered ${status} to a whole file`)
    }
    this.#id = undefined
  }

  async #sendPart(): Promise<void> {
    this.#id ??= await this.#begin()
    const body = this.#part.subarray(0, this.#filled)
    const partNumber = String(this.#etags.length + 1)
    const query = { partNumber, uploadId: this.#id }
    const { status, etag } = await this.#bucket.put(this.#name, body, query)
    if (status !== 200 || etag === undefined || !/^"?[\w-]+"?$/.test(etag)) {
      throw new Error(`the media store answered ${status} to a part of a file`)
    }
    this.#etags.push(etag)
    this.#filled = 0
  }

  async #begin(): Promise<string> {
    const { status, text } = await this.#bucket.post(this.#name, { uploads: '' }, '')
    const id = /<UploadId>([^<]+)<\/UploadId>/.exec(text)?.[1]
    if (status !== 200 || id === undefined) throw new Error(`the media store answered ${status}`)
    return id
  }

  async abort(): Promise<void> {
    if (this.#id === undefined) return
    await this.#bucket.delete(this.#name, { uploadId: this.#id }).catch(() => {})
  }
}
