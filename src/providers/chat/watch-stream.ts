// Watches a chat stream on its way to the caller. Bytes go through as they came; only events that
// carry usage, an error or the end are opened, and every event when the model name must be put back.
// Events cut by packet borders are kept until they are whole.
import type { Reported, StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'
import { renamed } from './body.ts'
import { readErrorEvent } from './errors.ts'
import { readUsage } from './usage.ts'

/** An event larger than this is not an event. */
const maxEventBytes = 8 * 1024 * 1024
/** Text is counted lazily, in pieces of this size; most streams never need the count. */
const countEveryBytes = 16 * 1024

const worthOpening = /prompt_tokens|\[DONE\]|"error"|"finish_reason"\s*:\s*"/
const done = Buffer.from('data: [DONE]\n\n')

export interface WatchOptions {
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
  #finishSeen = false
  #uncounted: Buffer[] = []
  #uncountedBytes = 0
  #counted = 0

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
    if (this.#options.restoreTo === undefined && !worthOpening.test(whole.toString('latin1'))) {
      return whole
    }
    return this.#open(whole)
  }

  close(): void {
    if (this.outcome !== undefined) return
    if (this.#finishSeen && this.#carry === undefined) {
      // Some upstreams end without the marker; every choice had said why it stopped.
      this.outcome = 'finished'
      this.ending = done
      return
    }
    this.#fail('the upstream ended its stream before the answer was complete', 'upstream_error')
  }

  countOutputTokens(): number {
    if (this.#uncounted.length > 0) {
      this.#counted += countText(Buffer.concat(this.#uncounted).toString())
      this.#uncounted = []
      this.#uncountedBytes = 0
    }
    return this.#counted
  }

  #remember(whole: Buffer): void {
    this.#uncounted.push(whole)
    this.#uncountedBytes += whole.length
    if (this.#uncountedBytes > countEveryBytes) this.countOutputTokens()
  }

  #fail(message: string, code: UpstreamError['code'] = 'upstream_invalid_response'): void {
    const id = this.#options.upstreamRequestId
    this.outcome = { code, message, ...(id !== undefined && { upstreamRequestId: id }) }
  }

  #open(whole: Buffer): Uint8Array | undefined {
    let out = ''
    for (const event of splitEvents(whole.toString())) {
      if (this.outcome !== undefined) break
      out += this.#pass(event)
    }
    return out === '' ? undefined : Buffer.from(out)
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
    return worthOpening.test(event) ? this.#inspect(event, data) : this.#restored(event)
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
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    if (choices.some((c) => isObject(c) && typeof c['finish_reason'] === 'string')) {
      this.#finishSeen = true
    }
    if (!isObject(chunk['usage'])) return this.#restored(event)
    this.reported = readUsage(chunk['usage'])
    if (this.#options.wantsUsage) return this.#restored(event)
    if (choices.length === 0) return ''
    const { usage: _, ...rest } = chunk
    return this.#restored(`data: ${JSON.stringify(rest)}\n\n`)
  }

  #restored(event: string): string {
    const name = this.#options.restoreTo
    if (name === undefined) return event
    return renamed(event, name) ?? rebuiltEvent(event, name)
  }
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
  if (!event.includes('data:')) return undefined
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
  if (lines.length === 0) return undefined
  return lines.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n')
}

function rebuiltEvent(event: string, model: string): string {
  const data = dataOf(event)
  if (data === undefined) return event
  try {
    const chunk: unknown = JSON.parse(data)
    return isObject(chunk) ? `data: ${JSON.stringify({ ...chunk, model })}\n\n` : event
  } catch {
    return event
  }
}

const textField = /"(?:content|reasoning_content|arguments)":"((?:[^"\\]|\\.)*)"/g

function countText(events: string): number {
  let text = ''
  for (const [, piece] of events.matchAll(textField)) text += piece
  return countTokens(text)
}
