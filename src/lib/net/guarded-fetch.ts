// Downloads from URLs chosen by third parties: every hop is checked and dialled by IP, without a
// proxy, and read no faster than it is consumed. Credentials never leave their origin. Does not
// know what is downloaded, nor for whom.

import type { HttpAnswer } from '../http/answer.ts'
import { headerLines } from '../http/client.ts'
import { HttpError } from '../http/error.ts'
import { type AddressRules, type Guarded, guardAddress, type Lookup } from './address-guard.ts'
import { dialGuarded, Stop } from './guarded-dial.ts'

export { type AddressRules, type Guarded, guardAddress, type Lookup } from './address-guard.ts'

const defaultIdleTimeoutMs = 60_000
const defaultReaderTimeoutMs = 5 * 60_000
const defaultMaxMs = 6 * 3_600_000
const defaultMaxBytes = 8 * 1024 ** 3
const redirectStatuses = [301, 302, 303, 307, 308]
const singleRange = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/
const shownHeaders = ['content-type', 'content-length', 'content-range', 'etag'] as const

export interface DownloadOptions {
  rules: AddressRules
  /** `bytes=0-99`; anything but a single range is ignored and returns the whole file. */
  range?: string | undefined
  /** For the origin of the first URL only; dropped once a redirect has left it. */
  credentials?: Readonly<Record<string, string>> | undefined
  maxRedirects: number
  /** For all hops together, until the head of the last reply. */
  headTimeoutMs: number
  /** Maximum silence within the body. */
  idleTimeoutMs?: number
  /** Maximum time without a read. */
  readerTimeoutMs?: number
  /** Maximum time for the whole body. */
  maxMs?: number
  maxBytes?: number
  signal?: AbortSignal
  lookup?: Lookup
  tls?: { ca: string }
}

export interface Download {
  status: number
  headers: Readonly<Partial<Record<(typeof shownHeaders)[number], string>>>
  /** Read on demand; fails if truncated, and must be read or cancelled. */
  body: ReadableStream<Uint8Array>
}

/** `forbidden`: the URL or a redirect is not allowed. `failed`: no usable reply. */
export interface DownloadProblem {
  kind: 'forbidden' | 'timeout' | 'failed'
  problem: string
}

const forbidden = (problem: string): DownloadProblem => ({ kind: 'forbidden', problem })
const failed = (problem: string): DownloadProblem => ({ kind: 'failed', problem })

export async function openDownload(
  text: string,
  options: DownloadOptions,
): Promise<Download | DownloadProblem> {
  const stop = new Stop(options.signal)
  let late = false
  const timer = setTimeout(() => {
    late = true
    stop.stop()
  }, options.headTimeoutMs)
  try {
    const answer = await followRedirects(text, options, stop)
    const opened = 'kind' in answer ? answer : download(answer, options, stop)
    if ('kind' in opened) stop.stop()
    return opened
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { stopped } = stop
    stop.release()
    if (late) return { kind: 'timeout', problem: 'the address did not answer in time' }
    return failed(stopped ? 'the download was stopped' : 'the address did not answer')
  } finally {
    clearTimeout(timer)
  }
}

async function followRedirects(
  text: string,
  options: DownloadOptions,
  stop: Stop,
): Promise<HttpAnswer | DownloadProblem> {
  let next = text
  let home: string | undefined
  let { credentials } = options
  for (let hops = 0; hops <= options.maxRedirects; hops++) {
    const guarded = await guardAddress(next, options.rules, options.lookup)
    if ('problem' in guarded) return forbidden(guarded.problem)
    home ??= guarded.url.origin
    if (guarded.url.origin !== home) credentials = undefined
    const answer = await ask(guarded, { ...options, credentials }, stop)
    if (!redirectStatuses.includes(answer.status)) return answer
    answer.cancel()
    const location = answer.header('location')
    const to = location === undefined ? null : URL.parse(location, guarded.url.href)
    if (to === null) return failed('the address redirects to nowhere')
    if (guarded.url.protocol === 'https:' && to.protocol !== 'https:') {
      return forbidden('the address redirects from https to something else')
    }
    next = to.href
  }
  return forbidden('the address redirects too often')
}

async function ask(
  guarded: Exclude<Guarded, { problem: string }>,
  options: DownloadOptions,
  stop: Stop,
): Promise<HttpAnswer> {
  const text = requestFor(guarded.url, options)
  const answer = await dialGuarded(guarded, { text, bytes: text.length }, stop, options.tls)
  answer.expectTrickle()
  return answer
}

/** All of it is ASCII: the URL parser ensures that, and headers are checked. */
function requestFor(url: URL, { range, credentials }: DownloadOptions): string {
  const headers: Record<string, string> = {
    ...credentials,
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
    connection: 'close',
  }
  if (range !== undefined && singleRange.test(range)) headers['range'] = range
  const opening = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`
  return `${opening}${headerLines(headers)}\r\n`
}

function download(
  answer: HttpAnswer,
  options: DownloadOptions,
  stop: Stop,
): Download | DownloadProblem {
  const { maxBytes = defaultMaxBytes } = options
  const encoding = answer.header('content-encoding') ?? 'identity'
  const isTooLarge = Number(answer.header('content-length') ?? 0) > maxBytes
  if (encoding !== 'identity' || isTooLarge) {
    return failed(isTooLarge ? 'the file is too large' : 'the file came compressed')
  }
  const headers: Download['headers'] = Object.fromEntries(
    shownHeaders.flatMap((name) => {
      const value = answer.header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  return { status: answer.status, headers, body: paced(answer, options, stop) }
}

/** Time limits of a body: in total, for the sender and for the reader. */
class Watch {
  readonly #giveUp: (why: string) => void
  readonly #max: ReturnType<typeof setTimeout>
  #turn: ReturnType<typeof setTimeout> | undefined

  constructor(maxMs: number, giveUp: (why: string) => void) {
    this.#giveUp = giveUp
    this.#max = setTimeout(giveUp, maxMs, 'the download took too long')
  }

  turnOf(who: 'the far side' | 'the reader', ms: number): void {
    clearTimeout(this.#turn)
    this.#turn = setTimeout(this.#giveUp, ms, `${who} fell silent`)
  }

  end(): void {
    clearTimeout(this.#max)
    clearTimeout(this.#turn)
  }
}

function paced(
  answer: HttpAnswer,
  options: DownloadOptions,
  stop: Stop,
): ReadableStream<Uint8Array> {
  const { idleTimeoutMs = defaultIdleTimeoutMs, maxBytes = defaultMaxBytes } = options
  const { readerTimeoutMs = defaultReaderTimeoutMs, maxMs = defaultMaxMs } = options
  let sizeBytes = 0
  let fail: ((error: Error) => void) | undefined
  const giveUp = (why: string) => {
    watch.end()
    stop.stop()
    fail?.(new Error(why))
  }
  const watch = new Watch(maxMs, giveUp)
  watch.turnOf('the reader', readerTimeoutMs)
  const source: Bun.UnderlyingSource<Uint8Array> = {
    start(controller) {
      fail = (error) => controller.error(error)
    },
    async pull(controller) {
      watch.turnOf('the far side', idleTimeoutMs)
      try {
        const piece = await answer.read()
        sizeBytes += piece?.byteLength ?? 0
        if (sizeBytes > maxBytes) throw new Error('the file is too large')
        if (piece !== undefined) {
          controller.enqueue(piece)
          return watch.turnOf('the reader', readerTimeoutMs)
        }
        watch.end()
        stop.release()
        controller.close()
      } catch (error) {
        watch.end()
        stop.stop()
        throw error
      }
    },
    cancel: () => giveUp('the reader has left'),
  }
  // No chunk is fetched before the reader asks for it.
  return new ReadableStream(source, { highWaterMark: 0 })
}
