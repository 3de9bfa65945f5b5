// Watches a text stream on its way to the caller. Bytes go through as they came; only events that
// carry usage, an error or the end are opened, and those in which the model name must be put back.
// Events cut by packet borders are kept until they are whole.
import type { Reported, StreamWatcher, UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'
import { withModel, withModelIn } from '../../lib/json-splice.ts'
import { dataOf, endOfLastEvent, findOddEvent, splitEvents, startOfEvent } from '../../lib/sse.ts'
import type { StreamState, StreamStyle, TextStyle } from './style.ts'

/** An event larger than this is not an event. */
const maxEventBytes = 8 * 1024 * 1024
/** The beginning of a stream that stands for the rest when its text has to be counted. */
const sampleBytes = 4 * 1024
/** A blank line may begin that many bytes before a packet border. */
const borderBytes = 3

export class TextStreamWatcher implements StreamWatcher {
  outcome: 'finished' | UpstreamError | undefined
  ending: Uint8Array | undefined
  /** Events that went to the caller. */
  events = 0
  readonly #style: StreamStyle
  readonly #state: StreamState
  /** The name the caller used; undefined when the upstream uses the same. */
  readonly #restoreTo: string | undefined
  /** What makes an event worth opening; undefined: all are. */
  readonly #signs: readonly Buffer[] | undefined
  /** An event that has begun. */
  #begun: Buffer[] = []
  #begunBytes = 0
  /** The last bytes that went through whole; they tell whether the answer had come to its end. */
  #last: Buffer | undefined
  #sample: Buffer[] = []
  #sampledBytes = 0
  #seenBytes = 0

  constructor(style: StreamStyle, call: TextCall, model: string, requestId: string | undefined) {
    this.#style = style
    this.#restoreTo = model === call.model ? undefined : call.model
    this.#signs = this.#restoreTo === undefined ? signsOf(style).plain : signsOf(style).restoring
    const reported = { usage: undefined, raw: undefined }
    this.#state = { call, upstreamRequestId: requestId, reported, complete: false }
  }

  get reported(): Reported {
    return this.#state.reported
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.outcome !== undefined) return undefined
    const whole = this.#wholeEvents(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (whole === undefined) return undefined
    this.#remember(whole)
    if (this.#signs === undefined) return this.#open(whole, 0)
    const sign = firstOf(whole, this.#signs)
    const start = sign === -1 ? whole.length : startOfEvent(whole, sign)
    const odd = findOddEvent(whole, start, this)
    if (odd === -1 && sign === -1) return whole
    return this.#open(whole, odd === -1 ? start : odd)
  }

  close(): void {
    if (this.outcome !== undefined) return
    // Some upstreams leave out the last line ends, others the marker.
    const rest = Buffer.concat(this.#begun).toString().trimEnd()
    if (rest !== '' && this.#isWhole(rest)) this.#pass(`${rest}\n\n`)
    if (this.outcome !== undefined) return
    const ending = rest === '' ? this.#style.ending(this.#state, this.#lastText()) : undefined
    if (ending !== undefined) {
      this.outcome = 'finished'
      this.ending = Buffer.from(ending)
      return
    }
    this.#fail('the upstream ended its stream before the answer was complete', 'upstream_error')
  }

  break(): void {
    if (this.outcome !== undefined) return
    this.#fail('the upstream broke off its stream', 'upstream_error')
  }

  /** Counted in the sample and scaled to the whole: nothing of a long answer has to be kept. */
  countOutputTokens(): number {
    if (this.#sampledBytes === 0) return 0
    let text = ''
    const sample = Buffer.concat(this.#sample).toString()
    for (const [, piece] of sample.matchAll(this.#style.textField)) text += piece
    return Math.ceil((countTokens(text) * this.#seenBytes) / this.#sampledBytes)
  }

  /** All whole events so far; what follows the last of them is kept for the next time. */
  #wholeEvents(bytes: Buffer): Buffer | undefined {
    let all = bytes
    if (this.#begunBytes > 0) {
      if (!this.#endsAnEvent(bytes)) return this.#keep(bytes)
      all = Buffer.concat([...this.#begun, bytes])
      this.#begun = []
      this.#begunBytes = 0
    }
    const end = endOfLastEvent(all)
    if (end < all.length) this.#keep(all.subarray(end))
    if (end === 0) return undefined
    return end === all.length ? all : all.subarray(0, end)
  }

  #keep(bytes: Buffer): undefined {
    this.#begun.push(bytes)
    this.#begunBytes += bytes.length
    if (this.#begunBytes > maxEventBytes) this.#fail('the upstream sent an event that never ends')
  }

  /** Whether a blank line lies in these bytes or across the border before them. */
  #endsAnEvent(bytes: Buffer): boolean {
    if (endOfLastEvent(bytes) > 0) return true
    const before: Buffer[] = []
    let length = 0
    for (let i = this.#begun.length - 1; i >= 0 && length < borderBytes; i--) {
      before.unshift(this.#begun[i]!)
      length += this.#begun[i]!.length
    }
    const border = Buffer.concat(before).subarray(-borderBytes)
    return endOfLastEvent(Buffer.concat([border, bytes.subarray(0, borderBytes)])) > 0
  }

  #lastText(): string {
    return this.#last?.toString('latin1') ?? ''
  }

  #remember(whole: Buffer): void {
    this.#last = whole
    this.#seenBytes += whole.length
    if (this.#sampledBytes > sampleBytes) return
    this.#sample.push(whole)
    this.#sampledBytes += whole.length
  }

  #fail(message: string, code: UpstreamError['code'] = 'upstream_invalid_response'): void {
    const id = this.#state.upstreamRequestId
    this.outcome = { code, message, ...(id !== undefined && { upstreamRequestId: id }) }
  }

  /** Events from `start` on are looked at one by one; what stands before passes as it is. */
  #open(whole: Buffer, start: number): Uint8Array | undefined {
    let out = ''
    for (const event of splitEvents(whole.toString('utf8', start))) {
      if (this.outcome !== undefined) break
      const passed = this.#pass(event)
      if (passed !== '') this.events++
      out += passed
    }
    if (start === 0) return out === '' ? undefined : Buffer.from(out)
    const before = whole.subarray(0, start)
    return out === '' ? before : Buffer.concat([before, Buffer.from(out)])
  }

  /** One whole event, its closing blank line included, to what the caller gets of it. */
  #pass(event: string): string {
    const data = dataOf(event)
    if (data === undefined) return event
    if (data === this.#style.marker) return this.#finish(event)
    const plain = data.startsWith('{') && data.endsWith('}') && !this.#isSign(data)
    return plain ? this.#restored(event) : this.#inspect(event, data)
  }

  #isWhole(event: string): boolean {
    const data = dataOf(`${event}\n\n`)
    if (data === undefined || data === this.#style.marker) return true
    try {
      JSON.parse(data)
      return true
    } catch {
      return false
    }
  }

  #isSign(data: string): boolean {
    return this.#style.signs.some((sign) => data.includes(sign))
  }

  #inspect(event: string, data: string): string {
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      this.#fail('the upstream sent an event that is not JSON')
      return ''
    }
    if (!isObject(value)) return event
    const verdict = this.#style.read(value, this.#state)
    if (verdict === 'pass') return this.#restored(event)
    if (verdict === 'hide') return ''
    if (verdict === 'last') return this.#finish(this.#restored(event))
    if ('instead' in verdict) return this.#restored(verdict.instead)
    this.outcome = verdict.failed
    return ''
  }

  #finish(event: string): string {
    this.outcome = 'finished'
    this.ending = Buffer.from(event)
    return ''
  }

  #restored(event: string): string {
    const name = this.#restoreTo
    if (name === undefined || !event.includes('{')) return event
    const holder = this.#style.modelIn
    return holder === undefined ? withModel(event, name) : withModelIn(event, holder, name)
  }
}

/** A stream whole in memory, for styles that turn it into one answer. */
export function readEvents(style: TextStyle, text: string): Record<string, unknown>[] | undefined {
  const found: Record<string, unknown>[] = []
  for (const event of splitEvents(`${text.trimEnd()}\n\n`)) {
    const data = dataOf(event)
    if (data === undefined || data === style.stream?.marker) continue
    try {
      const value: unknown = JSON.parse(data)
      if (isObject(value)) found.push(value)
    } catch {
      return undefined
    }
  }
  return found
}

interface Signs {
  plain: readonly Buffer[]
  restoring: readonly Buffer[] | undefined
}
const known = new WeakMap<StreamStyle, Signs>()

/** Made once per style, not once per stream. */
function signsOf(style: StreamStyle): Signs {
  const made = known.get(style)
  if (made !== undefined) return made
  const bytes = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))
  const marked = style.marker === undefined ? style.signs : [...style.signs, style.marker]
  const restoring = style.signsWithModel
  const signs = {
    plain: bytes(marked),
    restoring: restoring === undefined ? undefined : bytes([...marked, ...restoring]),
  }
  known.set(style, signs)
  return signs
}

/** Index of the earliest sign; -1 when the bytes need no look. */
function firstOf(bytes: Buffer, signs: readonly Buffer[]): number {
  let first = -1
  for (const sign of signs) {
    const at = bytes.indexOf(sign)
    if (at !== -1 && (first === -1 || at < first)) first = at
  }
  return first
}
