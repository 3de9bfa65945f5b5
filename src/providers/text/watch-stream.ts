// Watches a text stream on its way to the caller. Bytes pass unchanged except for the model's name; it
// parses only events with usage, an error or the end. Events split across packets are buffered until
// complete; large ones are not, and only their outline is parsed.
import type { Reported, StreamWatcher, Upstream, UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { asBuffer, EventBuffer, joined, noBytes } from '../../lib/http/event-buffer.ts'
import { dataOf, endOfEvent, findOddEvent, nameOf, startOfEvent } from '../../lib/http/sse.ts'
import { isObject } from '../../lib/json/parse.ts'
import { Edits } from '../../lib/text/edits.ts'
import { finishReasonFrom } from '../common/finish-reason.ts'
import { IdMarks } from './id-marks.ts'
import { KeptBytes, LargeEvent } from './large-event.ts'
import { ModelNames, type OwnName, ownName, usualFields, withOwnName } from './model-names.ts'
import {
  doneMarker,
  isPage,
  isWholeEvent,
  oneLine,
  type ParsedEvent,
  parseUpstream,
  shownData,
} from './read-events.ts'
import { LastBytes, lastOf, SeenOutput } from './seen-output.ts'
import { newState, type StreamState, type StreamStyle, type Verdict } from './style.ts'
import {
  EventRepair,
  firstEvent,
  isSign,
  nextSign,
  type Unread,
  unreadOf,
  withoutLate,
} from './unread-events.ts'

const lostContent = ['answer.content']
const endedEarly = 'the upstream ended its stream before the answer was complete'

export class TextStreamWatcher implements StreamWatcher {
  outcome: 'finished' | UpstreamError | undefined
  ending: Uint8Array | undefined
  /** Events with data that went to the caller. */
  events = 0
  readonly #style: StreamStyle
  readonly #state: StreamState
  /** The name the caller used; undefined when the upstream uses the same. */
  readonly #restoreTo: string | undefined
  /** Set where every event has the name. */
  readonly #ownName: OwnName | undefined
  readonly #unread: Unread
  readonly #packets = new EventBuffer()
  /** The last unparsed event that has to be read when another is, or at the end. */
  #late: string | undefined
  #first: string | undefined
  readonly #last = new LastBytes()
  readonly #sample = new SeenOutput()
  /** The event that is the last one if no other comes. */
  #held = ''
  #parsed: ParsedEvent[] | undefined
  #large: LargeEvent | undefined
  /** The bytes of the large event, for another reader. */
  #kept: KeptBytes | undefined
  /** Something of the answer was left out. */
  losses: readonly string[] | undefined
  /** Undefined when the events are not repaired. */
  #repair: EventRepair | undefined
  /** Undefined when the answer has no ids to mark. */
  readonly #marks: IdMarks | undefined

  constructor(
    style: StreamStyle,
    call: Pick<TextCall, 'model' | 'choices' | 'wantsUsage'>,
    { model, markFor }: Pick<Upstream, 'model' | 'markFor'>,
    requestId: string | undefined,
  ) {
    this.#style = style
    this.#marks = markFor === undefined ? undefined : new IdMarks(markFor)
    this.#restoreTo = model === call.model ? undefined : call.model
    this.#unread = call.choices === 1 ? unreadOf(style) : withoutLate(unreadOf(style))
    if (this.#restoreTo !== undefined && this.#unread.names === undefined) {
      this.#ownName = ownName(style.modelFields ?? usualFields, this.#restoreTo)
    }
    this.#state = newState(call, requestId)
    if (style.repair !== undefined) this.#repair = new EventRepair(style, style.repair, this.#state)
  }

  get reported(): Reported {
    this.#readLate()
    // What it says counts unless a later event has said it.
    if (this.#first && this.#state.served === undefined) this.#readUnparsed(this.#first)
    const { reported, served } = this.#state
    return served === undefined ? reported : { ...reported, served }
  }

  /** As the headers of the answer say, or an answer that was made into a stream. */
  set served(served: Reported['served']) {
    this.#state.served = served
  }

  /** The events of the last read that were parsed, for another reader of the same stream. */
  shareParsed(): readonly ParsedEvent[] {
    this.#parsed ??= []
    this.#repair = undefined
    return this.#parsed
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.outcome !== undefined) return undefined
    // One may be on hold.
    if (this.#parsed !== undefined) this.#parsed.splice(0, this.#parsed.length - 1)
    return this.#large === undefined
      ? this.#takePacket(asBuffer(chunk))
      : this.#takeLarge(this.#large, asBuffer(chunk))
  }

  #takePacket(bytes: Buffer): Buffer | undefined {
    const whole = this.#packets.take(bytes)
    const out = whole === undefined ? undefined : this.#takeWhole(whole)
    if (!this.#packets.isTooLong || this.outcome !== undefined) return out
    return joined(out, this.#takeLarge(this.#beginLarge(), this.#packets.giveUp()))
  }

  #takeWhole(whole: Buffer): Buffer | undefined {
    const out = this.#forward(whole)
    this.#last.record(whole)
    return out === undefined || this.#marks === undefined ? out : this.#marks.inEvents(out)
  }

  #beginLarge(): LargeEvent {
    const name = this.#restoreTo
    this.#large = new LargeEvent({
      model: name === undefined ? undefined : JSON.stringify(name),
      fields: this.#style.modelFields ?? usualFields,
      marks: this.#marks,
    })
    if (this.#parsed !== undefined) this.#kept = new KeptBytes()
    else this.events++
    return this.#large
  }

  #takeLarge(large: LargeEvent, bytes: Buffer): Buffer | undefined {
    const end = large.read(bytes)
    const part = end === -1 ? bytes : bytes.subarray(0, end)
    this.#kept?.add(part)
    if (end === -1) return this.#parsed === undefined ? this.#passLarge(large, part) : undefined
    this.#large = undefined
    const out = this.#parsed === undefined ? this.#endLarge(large, part) : this.#share(large)
    if (end === bytes.length || this.outcome !== undefined) return out
    return joined(out, this.#takePacket(bytes.subarray(end)))
  }

  /** What was held back was not the last event. */
  #passLarge(large: LargeEvent, part: Buffer): Buffer | undefined {
    const held = this.#held
    this.#held = ''
    const passed = large.pass(part)
    return held === '' ? passed : joined(Buffer.from(held), passed)
  }

  #share(large: LargeEvent): Buffer | undefined {
    const whole = this.#kept?.whole()
    this.#kept = undefined
    if (whole !== undefined) return this.#takeWhole(whole)
    this.losses = lostContent
    return this.#takeWhole(Buffer.from(large.event))
  }

  /** Most of it has gone to the caller: what it means decides about its end alone. */
  #endLarge(large: LargeEvent, part: Buffer): Buffer | undefined {
    const held = this.#held
    this.#held = ''
    const last = joined(held === '' ? undefined : Buffer.from(held), large.last(part))!
    this.#sample.addText(large.textBytes(this.#style.textField))
    const verdict = this.#judge(large.event)
    this.#last.record(last)
    if (verdict === 'last' || verdict === 'over') {
      this.outcome = 'finished'
      this.ending = last
    } else if (verdict === 'hold') this.#held = last.toString()
    else if (typeof verdict === 'object' && 'failed' in verdict) this.outcome = verdict.failed
    else return last
    return undefined
  }

  #judge(event: string): Verdict {
    const value = parseUpstream(dataOf(event) ?? '')
    if (!isObject(value)) return 'pass'
    if (this.#marks !== undefined) this.#style.ids?.(value, this.#marks)
    this.#readLate()
    return this.#style.read(value, this.#state, nameOf(event))
  }

  /** Runs of plain events pass, with the caller's name; the others are parsed one by one. */
  #forward(whole: Buffer): Buffer | undefined {
    const signs: number[] = []
    const edits = new Edits()
    const own = this.#ownName
    const shape = this.#repair?.shape
    const names = own === undefined ? undefined : new ModelNames(own, whole, edits, shape)
    let at = 0
    while (at < whole.length && this.outcome === undefined) {
      const odd = this.#nextOdd(whole, at, signs, names)
      if (odd > at) this.#passRun(whole, at, odd)
      at = odd
      if (odd === whole.length) break
      const end = endOfEvent(whole, odd)
      const event = whole.toString('utf8', odd, end)
      const passed = this.#pass(event)
      if (this.#state.complete || this.outcome !== undefined) this.#readReason(whole, odd)
      if (passed !== '' || this.#held !== '') this.#recordOpened(whole, odd, end, event)
      if (passed !== event) edits.replace(odd, end, passed === '' ? noBytes : Buffer.from(passed))
      at = end
    }
    return edits.apply(whole, at)
  }

  #passRun(whole: Buffer, from: number, to: number): void {
    if (this.#first === undefined) this.#first = firstEvent(whole, from, this.#unread)
    this.#sample.add(whole, from, to)
    const { late } = this.#unread
    const at = late === undefined ? -1 : whole.lastIndexOf(late, to - 1)
    if (at < from) return
    const start = Math.max(from, startOfEvent(whole, at))
    this.#late = whole.toString('utf8', start, endOfEvent(whole, start))
  }

  /** What an unparsed event says of the answer so far; it was forwarded, whatever it says. */
  #readLate(): void {
    const event = this.#late
    if (event === undefined) return
    this.#late = undefined
    this.#readUnparsed(event)
  }

  #readUnparsed(event: string): void {
    const value = parseUpstream(dataOf(event) ?? '')
    if (isObject(value)) this.#style.read(value, this.#state, undefined)
  }

  /** Start of the next event that must be parsed; the end when there is none. */
  #nextOdd(whole: Buffer, at: number, signs: number[], modelNames: ModelNames | undefined): number {
    const { names, texts } = this.#unread
    let [from, end] = [at, whole.length]
    if (names === undefined) {
      if (this.#held !== '') return at
      from = modelNames?.passFramed(at, end, this) ?? at
      const sign = nextSign(whole, from, texts, signs)
      if (sign !== -1) end = Math.max(from, startOfEvent(whole, sign))
    }
    const odd = modelNames
      ? modelNames.findOdd(from, end, this)
      : findOddEvent(whole, from, end, this, names, this.#repair?.shape)
    return odd === -1 ? end : odd
  }

  close(): void {
    if (this.outcome !== undefined) return
    if (this.#large?.isWhole) this.#closeLarge(this.#large)
    if (this.outcome !== undefined) return
    // Some upstreams omit the last line ends, others the marker.
    const bytes = this.#packets.rest()
    const rest = bytes.toString().trimEnd()
    if (rest !== '' && isWholeEvent(rest, this.#style.marker)) {
      this.#pass(`${rest}\n\n`)
      if (this.#held !== '') this.#recordOpened(bytes, 0, bytes.length, `${rest}\n\n`)
    }
    if (this.outcome !== undefined || this.#endHeld()) return
    const last = this.#last.bytes?.toString('latin1') ?? ''
    const isBetween = rest === '' && this.#large === undefined
    const ending = isBetween ? this.#style.ending(this.#state, last) : undefined
    if (ending !== undefined) this.#finish(ending)
    else this.outcome = this.#failure(endedEarly, 'upstream_error')
  }

  /** Only its blank line is missing. */
  #closeLarge(large: LargeEvent): void {
    this.#large = undefined
    const blank = Buffer.from('\n\n')
    if (this.#parsed === undefined) this.#endLarge(large, blank)
    else {
      this.#kept?.add(blank)
      this.#share(large)
    }
  }

  break(): void {
    if (this.outcome !== undefined) return
    const isBetween = this.#packets.isEmpty && this.#large === undefined
    if (isBetween && this.#state.call.choices === 1 && this.#endHeld()) return
    this.outcome = this.#failure('the upstream broke off its stream', 'upstream_error')
  }

  countOutputTokens(): number {
    return this.#sample.countTokens(this.#style.textField)
  }

  hasGoneOn(): boolean {
    return this.#sample.hasGoneOn(this.#last.bytes, this.#style.textField)
  }

  finishReason(): string | undefined {
    if (this.outcome !== 'finished') return undefined
    this.#readLate()
    this.#readReason(noBytes, 0)
    return finishReasonFrom(this.#state.finishReason)
  }

  /** Where only unparsed events say it: looked for at the end, in the last bytes before `to`. */
  #readReason(whole: Buffer, to: number): void {
    const { finishReasonIn } = this.#style
    if (finishReasonIn === undefined) return
    const state = this.#state
    state.finishReason = finishReasonIn(lastOf(whole, to), state)
    const { bytes } = this.#last
    if (bytes !== undefined) state.finishReason = finishReasonIn(bytes, state)
  }

  #recordOpened(whole: Buffer, from: number, to: number, event: string): void {
    if (dataOf(event) === undefined) return
    this.events++
    if (this.#unread.names !== undefined) this.#sample.addStep(event)
    if (event.search(this.#style.textField) !== -1) this.#sample.add(whole, from, to)
  }

  #failure(
    message: string,
    code: UpstreamError['code'] = 'upstream_invalid_response',
  ): UpstreamError {
    const id = this.#state.upstreamRequestId
    return { code, message, begun: true, ...(id !== undefined && { upstreamRequestId: id }) }
  }

  /** One whole event, with its closing blank line, to what the caller gets. */
  #pass(event: string): string {
    const data = dataOf(event)
    if (data === undefined) return this.#passBare(event)
    if (data === this.#style.marker) return this.#finish(event)
    const isRead = this.#restoreTo === undefined || this.#repair?.shape !== undefined
    const isWhole = data.startsWith('{') && data.endsWith('}')
    const isPlain = !isRead && isWhole && this.#held === '' && !isSign(data, this.#style)
    return isPlain ? this.#restored(event, data) : this.#inspect(event, data)
  }

  /** Comments and fields without data pass; an HTML page is neither. */
  #passBare(event: string): string {
    if (!isPage(event)) return event
    const { begun: _, ...error } = this.#failure('the upstream sent a page instead of a stream')
    this.outcome = error
    return ''
  }

  #inspect(sent: string, sentData: string): string {
    const parsed = parseUpstream(sentData)
    if (!isObject(parsed)) return this.#leaveOut(sentData, parsed)
    this.#parsed?.push({ data: sentData, value: parsed })
    if (this.#marks !== undefined) this.#style.ids?.(parsed, this.#marks)
    this.#readLate()
    const verdict = this.#style.read(parsed, this.#state, nameOf(sent))
    if (typeof verdict === 'object' && 'failed' in verdict) {
      this.outcome = verdict.failed
      return ''
    }
    const held = this.#held
    this.#held = ''
    if (verdict === 'over') return this.#finish(held)
    if (verdict === 'hide') return held
    const repaired = this.#repair?.apply(parsed, sent, sentData) ?? parsed
    const data = shownData(sentData, parsed, repaired, verdict)
    const shown = this.#restored(data === sentData ? sent : oneLine(sent, data), data)
    if (verdict === 'last') return this.#finish(held + shown)
    if (verdict !== 'hold') return held + shown
    this.#held = shown
    return held
  }

  /** No style has such an event, and clients fail at it: the answer may end well without it. */
  #leaveOut(data: string, value: unknown): string {
    if (value === undefined && this.events === 0) {
      this.outcome = this.#failure('the upstream sent an event that is not JSON')
    } else if (data !== doneMarker) this.losses = lostContent
    return ''
  }

  /** The event that was held back ends an answer that is complete. */
  #endHeld(): boolean {
    if (this.#held === '' || !this.#state.complete) return false
    this.#finish(this.#held)
    return true
  }

  #finish(event: string): string {
    this.outcome = 'finished'
    this.ending = Buffer.from(this.#marks?.inText(event) ?? event)
    return ''
  }

  #restored(event: string, data: string): string {
    const name = this.#restoreTo
    return name === undefined ? event : withOwnName(event, data, name, this.#style)
  }
}
