// The charge of a call, in its answer: for callers that ask for it inside the usage of a JSON body, or of the event of
// a stream that has the final usage. The amount is the ledger's, so that event waits until the charge is durable.
import type { AnswerStream, StreamSink, TextAnswer } from '../../contract/caller-api.ts'
import { asBuffer, EventBuffer, noBytes } from '../../lib/http/event-buffer.ts'
import {
  dataOf,
  endOfEvent,
  endOfLastEvent,
  splitEvents,
  startOfEvent,
} from '../../lib/http/sse.ts'
import { addMemberLong } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withMember, withMemberInTail } from '../../lib/json/splice.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Fields } from '../common/fields.ts'

/** Where a style has its usage. */
export interface UsagePlace {
  /** Of the usage in a JSON answer. */
  body: readonly string[]
  /** The same in an event. */
  event: readonly string[]
  /** Whether an event may have the final usage: the last one that does has it. */
  isFinal(event: Fields): boolean
  /** What is found in each of them, and in few others: nearly all events of a stream are words only. */
  sign: RegExp
  /** The marker of the end, before which an event with the usage is written if there was none. */
  marker?: string
}

const includeHeader = 'x-gateway-include'

export const wantsCharge = (request: Request): boolean =>
  request.headers.get(includeHeader)?.split(',').some(isCharge) === true

const isCharge = (word: string): boolean => word.trim().toLowerCase() === 'charge'

type Charged = Pick<TextAnswer, 'record' | 'currency'>

/** Undefined: it is not charged. */
export const chargeText = ({ record }: Charged): string | undefined =>
  record.charge === undefined ? undefined : formatNanos(record.chargeNanos)

/** As a member of a JSON object. */
function noteOf(answer: Charged): string | undefined {
  const charge = chargeText(answer)
  const { record, currency } = answer
  return charge === undefined
    ? undefined
    : `"gateway":${JSON.stringify({ request_id: record.requestId, charge, currency })}`
}

type Body = string | Uint8Array<ArrayBuffer>

/** More is read in a thread: that of many MB takes hundreds of milliseconds. */
const longBody = 64 * 1024

/** A JSON answer with its charge; a promise for a long one. It is paid for, so it goes out also if that cannot be read. */
export function withCharge(
  body: Body,
  { body: path }: UsagePlace,
  answer: Charged,
  queueKey?: string,
): Body | Promise<Body> {
  const note = noteOf(answer)
  if (note === undefined) return body
  if (body.length > longBody) {
    return addMemberLong(body, path, note, queueKey).catch(() => body)
  }
  return withMember(textOf(body), path, note)
}

const textOf = (body: Body): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body)

export const streamWithCharge = (
  stream: AnswerStream,
  place: UsagePlace,
  answer: Charged,
): AnswerStream => ({ start: (sink) => stream.start(new ChargeSink(sink, place, answer)) })

/** What waits for the end is not more than this; of a larger event only the last part. */
const maxHeldBytes = 2 * 1024 * 1024
/** Its usage follows its content, with little behind it. */
const tailBytes = 64 * 1024

class ChargeSink implements StreamSink {
  readonly #sink: StreamSink
  readonly #place: UsagePlace
  readonly #answer: Charged
  readonly #packets = new EventBuffer(maxHeldBytes)
  /** The last part of a large event. */
  #rest: Buffer<ArrayBufferLike> = noBytes
  /** The beginning of that event has gone on. */
  #hasBegun = false
  /** The event that has the usage, unless another follows, and those behind it. */
  #held: string[] = []
  #heldBytes = 0
  /** Of the first of them only the last part. */
  #isTail = false

  constructor(sink: StreamSink, place: UsagePlace, answer: Charged) {
    this.#sink = sink
    this.#place = place
    this.#answer = answer
  }

  write(bytes: Uint8Array): undefined | Promise<unknown> {
    if (this.#hasBegun) return this.#goOn(Buffer.concat([this.#rest, bytes]))
    const whole = this.#packets.take(asBuffer(bytes))
    const room = whole === undefined ? undefined : this.#writeWhole(whole)
    return this.#packets.isTooLong ? (this.#beginLarge() ?? room) : room
  }

  #writeWhole(all: Buffer): undefined | Promise<unknown> {
    const from = this.#held.length > 0 ? 0 : this.#firstSign(all)
    let out = ''
    for (const event of splitEvents(all.toString('utf8', from))) out += this.#take(event)
    const before = from === 0 ? undefined : this.#sink.write(all.subarray(0, from))
    return out === '' ? before : (this.#sink.write(Buffer.from(out)) ?? before)
  }

  /** What has come of an event that is too large to wait goes on. */
  #beginLarge(): undefined | Promise<unknown> {
    this.#hasBegun = true
    const held = this.#release()
    const room = held === '' ? undefined : this.#sink.write(Buffer.from(held))
    return this.#goOn(this.#packets.giveUp()) ?? room
  }

  /** A large event: all but its last part goes on. */
  #goOn(all: Buffer): undefined | Promise<unknown> {
    const end = endOfEvent(all, 0)
    if (end === all.length && endOfLastEvent(all) !== end) {
      const from = tailFrom(all)
      this.#rest = Buffer.from(all.subarray(from))
      return from === 0 ? undefined : this.#sink.write(all.subarray(0, from))
    }
    this.#hasBegun = false
    this.#rest = noBytes
    const out = this.#takeTail(all.toString('utf8', 0, end))
    const before = out === '' ? undefined : this.#sink.write(Buffer.from(out))
    return end === all.length ? before : (this.write(all.subarray(end)) ?? before)
  }

  /** It waits if the charge can be put into it. */
  #takeTail(tail: string): string {
    const { event: path } = this.#place
    if (withMemberInTail(tail, path.at(-1)!, path.length, '') === undefined) return tail
    this.#held.push(tail)
    this.#heldBytes = tail.length
    this.#isTail = true
    return ''
  }

  /** Where the first event begins that has to be looked at; the end if there is none. */
  #firstSign(all: Buffer): number {
    const at = all.toString('latin1').search(this.#place.sign)
    return at === -1 ? all.length : startOfEvent(all, at)
  }

  end(): void {
    if (this.#hasBegun) this.#rest = Buffer.from(this.#takeTail(this.#rest.toString()))
    const rest = this.#hasBegun ? this.#rest : this.#packets.rest()
    const last = this.#withNote() + rest.toString()
    if (last !== '') this.#sink.write(Buffer.from(last))
    this.#sink.end()
  }

  cut(): void {
    this.#sink.cut()
  }

  #take(event: string): string {
    if (event.length > maxHeldBytes) {
      const [head, tail] = cutBeforeTail(event)
      const before = this.#release() + head
      return before + this.#takeTail(tail)
    }
    const data = dataOf(event)
    if (data === undefined) return event
    const value = this.#place.sign.test(data) ? parsed(data) : undefined
    const isFinal = value !== undefined && this.#place.isFinal(value)
    if (!isFinal && data !== this.#place.marker && this.#held.length === 0) return event
    const before = isFinal || this.#heldBytes > maxHeldBytes ? this.#release() : ''
    this.#held.push(event)
    this.#heldBytes += event.length
    return before
  }

  #release(): string {
    const held = this.#held.join('')
    this.#held = []
    this.#heldBytes = 0
    this.#isTail = false
    return held
  }

  #withNote(): string {
    const note = noteOf(this.#answer)
    const [first, ...others] = this.#held
    if (note === undefined || first === undefined) return this.#release()
    const { event: path } = this.#place
    if (this.#isTail) {
      return [withMemberInTail(first, path.at(-1)!, path.length, note), ...others].join('')
    }
    const data = dataOf(first)!
    if (data === this.#place.marker) return usageEvent(this.#answer, note) + this.#release()
    return [withNote(first, path, note), ...others].join('')
  }
}

/** Of a large event only the last part is read, if its usage is there. */
function withNote(event: string, path: readonly string[], note: string): string {
  if (event.length > tailBytes) {
    const [head, tail] = cutBeforeTail(event)
    const noted = withMemberInTail(tail, path.at(-1)!, path.length, note)
    if (noted !== undefined) return head + noted
  }
  const at = event.indexOf('{', event.indexOf('data:'))
  return withMember(event, path, note, at)
}

/** No character is cut in two. */
function cutBeforeTail(event: string): [head: string, tail: string] {
  const at = event.length - tailBytes
  const from = isSecondHalf(event.charCodeAt(at)) ? at - 1 : at
  return [event.slice(0, from), event.slice(from)]
}

const isSecondHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** No character is cut in two. */
function tailFrom(bytes: Buffer): number {
  let from = Math.max(0, bytes.length - tailBytes)
  while (from > 0 && (bytes[from]! & 0xc0) === 0x80) from--
  return from
}

function parsed(data: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** For a stream of unnamed events without any usage: what is charged. */
function usageEvent({ record }: Charged, note: string): string {
  const { inputTokens = 0, outputTokens = 0 } = record.usage ?? {}
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(JSON.parse(`{${note}}`) as object),
  }
  const chunk = {
    id: record.requestId,
    object: 'chat.completion.chunk',
    created: Math.floor(record.atMs / 1_000),
    model: record.model,
    choices: [],
    usage,
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}
