// Watches a chat stream on its way to the caller. Bytes go through as they came; only events that
// carry usage, an error or the end are opened, and every event when the model name must be put back.
// Events cut by packet borders are kept until they are whole.
import type { Reported, StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'
import { withModel } from './body.ts'
import { readErrorEvent } from './errors.ts'
import { readUsage } from './usage.ts'

/** An event larger than this is not an event. */
const maxEventBytes = 8 * 1024 * 1024
/** The beginning of a stream that stands for the rest when its text has to be counted. */
const sampleBytes = 4 * 1024

/** What makes an event worth opening: usage, the end, an error. */
const signs = ['"usage":{', '"usage": {', '[DONE]', '"error"'].map((sign) => Buffer.from(sign))
const worthParsing = /"usage"\s*:\s*\{|"error"/
const finishReason = /"finish_reason"\s*:\s*"/
const done = Buffer.from('data: [DONE]\n\n')

export interface WatchOptions {
  /** Answers in the stream; each says why it stopped. */
  choices: number
  /** The name the caller used; undefined when the upstream uses the same. */
  restoreTo: string | undefined
  wantsUsage: boolean
  upstreamRequestId: string | undefined
}

export class ChatStreamWatcher implements StreamWatcher {
  outcome: 'finished' | UpstreamError | undefined
  ending: Uint8Array | undefined
  reported: Reported = { usage: undefined, raw: undefined }
  readonly #options: WatchOptions
  #carry: Buffer | undefined
  /** The last bytes that went through whole; they tell whether the answer had come to its end. */
  #last: Buffer | undefined
  #sample: Buffer[] = []
  #sampledBytes = 0
  #seenBytes = 0

  constructor(options: WatchOptions) {
    this.#options = options
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.outcome !== undefined) return undefined
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (this.#carry !== undefined) bytes = Buffer.concat([this.#carry, bytes])
    const end = endOfLastEvent(bytes)
    this.#carry = end === bytes.length ? undefined : bytes.subarray(end)
    if (this.#carry !== undefined && this.#carry.length > maxEventBytes) {
      this.#fail('the upstream sent an event that never ends')
    }
    if (end === 0) return undefined
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end)
    this.#remember(whole)
    if (this.#options.restoreTo !== undefined) return this.#open(whole, 0)
    const sign = firstSign(whole)
    const start = sign === -1 ? whole.length : startOfEvent(whole, sign)
    const odd = oddEvent(whole, start)
    if (odd === -1 && sign === -1) return whole
    return this.#open(whole, odd === -1 ? start : odd)
  }

  close(): void {
    if (this.outcome !== undefined) return
    const rest = this.#carry?.toString().trimEnd() ?? ''
    // Some upstreams leave out the last line ends, others the marker: then the usage must have
    // come, or the only answer must have said why it stopped.
    const stopped = this.#options.choices === 1 && finishReason.test(this.#lastText())
    const over = rest === '' && (this.#hasUsage || stopped)
    if (over || dataOf(`${rest}\n\n`) === '[DONE]') {
      this.outcome = 'finished'
      this.ending = done
      return
    }
    this.#fail('the upstream ended its stream before the answer was complete', 'upstream_error')
  }

  break(): void {
    if (this.outcome !== undefined) return
    this.#fail('the upstream broke off its stream', 'upstream_error')
  }

  get #hasUsage(): boolean {
    return this.reported.raw !== undefined
  }

  #lastText(): string {
    return this.#last?.toString('latin1') ?? ''
  }

  /** Counted in the sample and scaled to the whole: nothing of a long answer has to be kept. */
  countOutputTokens(): number {
    if (this.#sampledBytes === 0) return 0
    const counted = countText(Buffer.concat(this.#sample).toString())
    return Math.ceil((counted * this.#seenBytes) / this.#sampledBytes)
  }

  #remember(whole: Buffer): void {
    this.#last = whole
    this.#seenBytes += whole.length
    if (this.#sampledBytes > sampleBytes) return
    this.#sample.push(whole)
    this.#sampledBytes += whole.length
  }

  #fail(message: string, code: UpstreamError['code'] = 'upstream_invalid_response'): void {
    const id = this.#options.upstreamRequestId
    this.outcome = { code, message, ...(id !== undefined && { upstreamRequestId: id }) }
  }

  /** Events from `start` on are looked at one by one; what stands before passes as it is. */
  #open(whole: Buffer, start: number): Uint8Array | undefined {
    let out = ''
    for (const event of splitEvents(whole.toString('utf8', start))) {
      if (this.outcome !== undefined) break
      out += this.#pass(event)
    }
    if (start === 0) return out === '' ? undefined : Buffer.from(out)
    const before = whole.subarray(0, start)
    return out === '' ? before : Buffer.concat([before, Buffer.from(out)])
  }

  /** One whole event, its closing blank line included, to what the caller gets of it. */
  #pass(event: string): string {
    const data = dataOf(event)
    if (data === undefined) return event
    if (data === '[DONE]') {
      this.outcome = 'finished'
      this.ending = Buffer.from(event)
      return ''
    }
    const plain = data.startsWith('{') && data.endsWith('}') && !worthParsing.test(event)
    return plain ? this.#restored(event) : this.#inspect(event, data)
  }

  #inspect(event: string, data: string): string {
    let chunk: unknown
    try {
      chunk = JSON.parse(data)
    } catch {
      this.#fail('the upstream sent an event that is not JSON')
      return ''
    }
    if (!isObject(chunk)) return event
    if (isObject(chunk['error']) || typeof chunk['error'] === 'string') {
      this.outcome = readErrorEvent(chunk['error'], this.#options.upstreamRequestId)
      return ''
    }
    if (!isObject(chunk['usage'])) return this.#restored(event)
    this.reported = readUsage(chunk['usage'])
    if (this.#options.wantsUsage) return this.#restored(event)
    if (!Array.isArray(chunk['choices']) || chunk['choices'].length === 0) return ''
    const { usage: _, ...rest } = chunk
    return this.#restored(`data: ${JSON.stringify(rest)}\n\n`)
  }

  #restored(event: string): string {
    const name = this.#options.restoreTo
    return name === undefined || !event.includes('{') ? event : withModel(event, name)
  }
}

/** Index of the earliest sign; -1 when the bytes need no look. */
function firstSign(bytes: Buffer): number {
  let first = -1
  for (const sign of signs) {
    const at = bytes.indexOf(sign)
    if (at !== -1 && (first === -1 || at < first)) first = at
  }
  return first
}

const blankLine = Buffer.from('\n\n')

/**
 * Where the first event before `end` begins that is not `data: {…}` on one line; -1 if all are.
 * A look at both ends of each event: opening every one would cost more than forwarding it.
 */
function oddEvent(bytes: Buffer, end: number): number {
  let start = 0
  while (start < end) {
    const close = bytes.indexOf(blankLine, start)
    const usual =
      close !== -1 &&
      bytes[close - 1] === 0x7d && // }
      bytes[start + 6] === 0x7b && // {
      bytes[start] === 0x64 && // d
      bytes[start + 5] === 0x20
    if (!usual) return start
    start = close + 2
  }
  return -1
}

/** Index where the event that holds this byte begins. */
function startOfEvent(bytes: Buffer, at: number): number {
  const unix = bytes.lastIndexOf('\n\n', at)
  const dos = bytes.lastIndexOf('\r\n\r\n', at)
  return Math.max(unix === -1 ? 0 : unix + 2, dos === -1 ? 0 : dos + 4)
}

/** Index just after the last blank line; 0 when no event is whole yet. */
function endOfLastEvent(bytes: Buffer): number {
  const last = bytes.length - 1
  if (last >= 1 && bytes[last] === 0x0a && bytes[last - 1] === 0x0a) return bytes.length
  const unix = bytes.lastIndexOf('\n\n')
  const dos = bytes.lastIndexOf('\r\n\r\n')
  return Math.max(unix === -1 ? 0 : unix + 2, dos === -1 ? 0 : dos + 4)
}

const splitEvents = (text: string): string[] => text.match(/[\s\S]*?(?:\r\n\r\n|\n\n)/g) ?? []

/** The event's data, its lines joined; undefined for comments and other fields. */
function dataOf(event: string): string | undefined {
  if (event.startsWith('data: ') && event.indexOf('\n') === event.length - 2) {
    return event.slice(6, -2)
  }
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
  if (lines.length === 0) return undefined
  return lines.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n')
}

const textField = /"(?:content|reasoning_content|arguments)":"([^"\\]*(?:\\.[^"\\]*)*)"/g

function countText(events: string): number {
  let text = ''
  for (const [, piece] of events.matchAll(textField)) text += piece
  return countTokens(text)
}
