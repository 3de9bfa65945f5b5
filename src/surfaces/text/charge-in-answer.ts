// The charge of a call, in its answer: for callers that ask for it inside the usage of a JSON body, or of the event of
// a stream that has the final usage. The amount is the ledger's, so that event waits until the charge is durable.
import type { AnswerStream, StreamSink, TextAnswer } from '../../contract/caller-api.ts'
import { dataOf, endOfLastEvent, splitEvents, startOfEvent } from '../../lib/http/sse.ts'
import { addMemberLong } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withMember } from '../../lib/json/splice.ts'
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

/** What waits for the end is not more than this; then it goes out without the charge. */
const maxHeldBytes = 4 * 1024 * 1024

class ChargeSink implements StreamSink {
  readonly #sink: StreamSink
  readonly #place: UsagePlace
  readonly #answer: Charged
  /** An event that is not whole yet. */
  #rest: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  /** The event that has the usage, unless another follows, and those behind it. */
  #held: string[] = []
  #heldBytes = 0

  constructor(sink: StreamSink, place: UsagePlace, answer: Charged) {
    this.#sink = sink
    this.#place = place
    this.#answer = answer
  }

  write(bytes: Uint8Array): undefined | Promise<unknown> {
    const all = this.#rest.length === 0 ? bufferOf(bytes) : Buffer.concat([this.#rest, bytes])
    const end = endOfLastEvent(all)
    const from = this.#held.length > 0 ? 0 : this.#firstSign(all, end)
    let out = ''
    for (const event of splitEvents(all.toString('utf8', from, end))) out += this.#take(event)
    // Copied: a few bytes must not keep a whole network buffer alive.
    this.#rest = Buffer.from(all.subarray(end))
    if (this.#rest.length > maxHeldBytes) {
      out += this.#release() + this.#rest.toString()
      this.#rest = Buffer.alloc(0)
    }
    const before = from === 0 ? undefined : this.#sink.write(all.subarray(0, from))
    return out === '' ? before : (this.#sink.write(Buffer.from(out)) ?? before)
  }

  /** Where the first event begins that has to be looked at; the end if there is none. */
  #firstSign(all: Buffer, end: number): number {
    const at = all.toString('latin1', 0, end).search(this.#place.sign)
    return at === -1 ? end : startOfEvent(all, at)
  }

  end(): void {
    const last = this.#withNote() + this.#rest.toString()
    if (last !== '') this.#sink.write(Buffer.from(last))
    this.#sink.end()
  }

  cut(): void {
    this.#sink.cut()
  }

  #take(event: string): string {
    if (event.length > maxHeldBytes) return this.#release() + event
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
    return held
  }

  #withNote(): string {
    const note = noteOf(this.#answer)
    const [first, ...others] = this.#held
    if (note === undefined || first === undefined) return this.#release()
    const data = dataOf(first)!
    if (data === this.#place.marker) return usageEvent(this.#answer, note) + this.#release()
    const at = first.indexOf('{', first.indexOf('data:'))
    return [withMember(first, this.#place.event, note, at), ...others].join('')
  }
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

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
