// A stream of one style written in another while it passes. The watcher of the upstream's style sees
// it first: it reads usage and failures, and keeps the final event back.
import type { Reported, StreamWatcher, TextReply, UpstreamError } from '../../contract/provider.ts'
import { asBuffer } from '../../lib/http/event-buffer.ts'
import { eachEvent, type TakeEvent } from '../../lib/http/sse.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { TextRun } from '../../lib/json/text-run.ts'
import { TextTemplate } from '../../lib/json/text-template.ts'
import type {
  AnswerEvent,
  AnswerLoss,
  AnswerUsage,
  StreamReader,
  StreamWriter,
} from '../../styles/common/answer.ts'
import { needsExact, parseExact } from '../../styles/common/exact-json.ts'
import { mayBeDeep, parseUpstream } from './read-events.ts'
import type { Json } from './style.ts'
import { TextStreamWatcher } from './watch-stream.ts'

const noLosses: readonly string[] = []

/** What of an answer was changed or left out, under the names that its caller is told. */
export class AnswerLosses {
  names = noLosses

  add(what: AnswerLoss): void {
    const name = `answer.${what}`
    if (!this.names.includes(name)) this.names = [...this.names, name]
  }
}

type StreamReply = Extract<TextReply, { kind: 'stream' }>

/** The usage that a finished answer is charged for, as its caller is shown it. */
export type ShownUsage = (reported: Reported, countOutputTokens: () => number) => AnswerUsage

export class TranslatedStream implements StreamWatcher {
  /** Events with data that went to the caller. */
  events = 0
  ending: Uint8Array | undefined
  readonly #upstream: StreamWatcher
  /** What the watcher has parsed of the same events. */
  readonly #parsed: readonly { data: string; value: Json }[]
  readonly #reader: StreamReader
  readonly #writer: StreamWriter
  readonly #requestId: string | undefined
  readonly #shownUsage: ShownUsage
  readonly #template = new TextTemplate()
  /** Of events that continue the text of the last. */
  #run: TextRun | undefined
  /** Of the last event. */
  #emitted = 0
  /** Texts that the last event gave: their number, and the last. */
  #texts = 0
  #text = ''
  #written = ''
  /** The beginning goes out with what follows it: until then another upstream can take over. */
  #hasContent = false
  #failure: UpstreamError | undefined
  readonly #losses = new AnswerLosses()
  #isWhole = false
  #hasCalls = false

  constructor(
    { watcher, upstreamRequestId }: Pick<StreamReply, 'watcher' | 'upstreamRequestId'>,
    reader: StreamReader,
    writer: StreamWriter,
    shownUsage: ShownUsage,
  ) {
    this.#upstream = watcher
    this.#requestId = upstreamRequestId
    this.#parsed = watcher instanceof TextStreamWatcher ? watcher.shareParsed() : []
    this.#reader = reader
    this.#writer = writer
    this.#shownUsage = shownUsage
  }

  get outcome(): 'finished' | UpstreamError | undefined {
    return this.#failure ?? this.#upstream.outcome
  }

  get reported(): Reported {
    return this.#upstream.reported
  }

  get losses(): readonly string[] {
    if (this.#upstream.losses !== undefined) this.#losses.add('content')
    return this.#losses.names
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    const passed = this.#upstream.take(chunk)
    if (passed !== undefined) this.#read(passed)
    this.#endIfFinished()
    return this.#taken()
  }

  close(): void {
    this.#upstream.close()
    this.#endWithRest()
  }

  break(): void {
    this.#upstream.break()
    this.#endWithRest()
  }

  /** No more bytes are taken: what is left, such as the beginning, goes out with the end. */
  #endWithRest(): void {
    this.#endIfFinished()
    if (this.ending === undefined || this.#written === '') return
    this.ending = Buffer.concat([Buffer.from(this.#written), this.ending])
    this.#written = ''
  }

  countOutputTokens(): number {
    return this.#upstream.countOutputTokens()
  }

  hasGoneOn(): boolean {
    return this.#upstream.hasGoneOn()
  }

  /** Some upstreams do not say that it ended with calls. */
  finishReason(): string | undefined {
    return this.#hasCalls ? 'tool_calls' : this.#upstream.finishReason()
  }

  /** Comments do not count as events. */
  keepAlive(): Uint8Array {
    const text = this.#writer.keepAlive()
    if (!text.startsWith(':')) this.events += countEvents(text)
    return Buffer.from(text)
  }

  /** What is written once the upstream's end is known waits for the charge. */
  #endIfFinished(): void {
    if (this.#upstream.outcome !== 'finished' || this.#isWhole) return
    this.#isWhole = true
    const before = this.#written
    this.#written = ''
    if (this.#upstream.ending !== undefined) this.#read(this.#upstream.ending)
    this.#reader.end(this.#write)
    const last = this.#written + (this.#failure === undefined ? this.#writer.end() : '')
    this.#written = before
    if (this.#failure === undefined) this.ending = Buffer.from(last)
  }

  #read(bytes: Uint8Array): void {
    if (this.#failure !== undefined) return
    eachEvent(asBuffer(bytes).toString(), this.#event, this.#continue)
  }

  readonly #event: TakeEvent = (data, name, text, at, end) => {
    this.#run = undefined
    const like = this.#template.match(data)
    if (like === undefined) this.#parse(data, name)
    else {
      this.#texts = 0
      this.#emitted = 0
      this.#reader.read(like, name, this.#write)
      if (this.#texts === 1 && this.#emitted === 1) this.#beginRun(data, text.slice(at, end))
    }
    return this.#failure === undefined
  }

  #beginRun(data: string, event: string): void {
    const { continued } = this.#reader
    const at = continued === undefined ? -1 : event.indexOf(data)
    if (continued === undefined || at === -1) return
    const behind = event.slice(at + data.length)
    this.#run = this.#template.runOf(event.slice(0, at), behind, continued)
  }

  /** Events that only continue the text before them. */
  readonly #continue = (events: string, start: number): number => {
    const run = this.#run
    if (run === undefined) return start
    let at = start
    for (let end = run.take(events, at); end !== -1; end = run.take(events, at)) {
      this.#reader.more!(run.text, this.#write)
      at = end
    }
    return at
  }

  #parse(data: string, name: string | undefined): void {
    const known = this.#parsed.find((each) => each.data === data)
    const isKnown = known !== undefined && !needsExact(data)
    const isDeep = mayBeDeep(data)
    const value = isKnown ? known.value : isDeep ? parseUpstream(data) : parseExact(data)
    if (isDeep || (value === undefined && !this.#isWhole)) this.#losses.add('content')
    if (!isObject(value)) return
    this.#texts = 0
    this.#reader.read(value, name, this.#write)
    if (this.#texts === 1 && !isKnown) this.#template.learn(data, value, this.#text)
  }

  readonly #write = (event: AnswerEvent): void => {
    if (this.#failure !== undefined) return
    if (event.type === 'fail') {
      this.#failure = { ...event.error, begun: true, ...named(this.#requestId) }
      return
    }
    if (event.type === 'usage') return
    if (event.type === 'lost') {
      this.#losses.add(event.what)
      return
    }
    this.#emitted++
    if (event.type === 'text' || event.type === 'input') {
      this.#texts++
      this.#text = event.text
    }
    this.#written += this.#writer.write(event)
    if (event.type !== 'begin') this.#hasContent = true
    if (event.type !== 'stop') return
    this.#hasCalls = event.reason === 'calls'
    const usage = this.#shownUsage(this.reported, () => this.countOutputTokens())
    this.#written += this.#writer.write({ type: 'usage', usage })
  }

  #taken(): Uint8Array | undefined {
    if (this.#written === '' || !this.#hasContent) return undefined
    const bytes = Buffer.from(this.#written)
    this.events += countEvents(this.#written)
    this.#written = ''
    return bytes
  }
}

/** The upstream's name for the request, if it gave one. */
export const named = (upstreamRequestId: string | undefined) =>
  upstreamRequestId === undefined ? undefined : { upstreamRequestId }

function countEvents(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n', at + 2)) count++
  return count
}
