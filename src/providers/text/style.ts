// What distinguishes the text styles at the upstream. A style is a table of small functions;
// sending, reading, splitting streams into events and classifying failures are shared.
import type { Protocol } from '../../contract/catalog.ts'
import type { Reported, Upstream, UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { IdMarks } from './id-marks.ts'

export type Json = Readonly<Record<string, unknown>>

/** A whole answer, understood. */
export interface ReadAnswer {
  reported: Reported
  /** All output as text, for when usage is missing. */
  text(): string
  /** The body for the caller, when it is not the upstream's own. */
  body?: string
}

/** What a stream has told so far. */
export interface StreamState {
  readonly call: TextCall
  readonly upstreamRequestId: string | undefined
  reported: Reported
  /** The answer has said why it stopped; only the end marker may be missing. */
  complete: boolean
}

/** What becomes of one event. `instead` is sent in its place, `last` waits for the charge. */
export type Verdict = 'pass' | 'hide' | 'last' | { instead: string } | { failed: UpstreamError }

export interface StreamStyle {
  /** Which events are forwarded unread: those with such a name, or those without such a text. */
  unread: { named: readonly string[] } | { without: readonly string[] }
  /** The field with the object that holds the model name; absent: every event has its own. */
  modelIn?: string
  /** `name` is what stands after `event:`, if anything does. */
  read(data: Json, state: StreamState, name: string | undefined): Verdict
  /** Learns the ids in an event. Events that bring new ones must not pass unread. */
  ids?(data: Json, marks: IdMarks): void
  /** The end marker, where it is no JSON. */
  marker?: string
  /** The final event of a stream that was complete but for it. `lastText`: its last bytes. */
  ending(state: StreamState, lastText: string): string | undefined
  /** Finds output text in raw events. */
  textField: RegExp
  /** A whole answer as a stream, for upstreams that do not stream when asked to. */
  fromAnswer(answer: Json): readonly string[]
  /** A stream as a whole answer, for upstreams that stream without being asked. */
  toAnswer(events: readonly Json[]): Json | undefined
}

export interface TextStyle {
  protocol: Protocol
  /** Added to the base address. */
  path: string
  /** What an answer is, in an error text: `a chat completion`. */
  noun: string
  /** A new object every time; what all styles send is added to it. */
  headers(call: TextCall, upstream: Upstream): Record<string, string>
  /** The body for the upstream, apart from the model's name. */
  prepare?(body: string, call: TextCall): string
  /** Learns the ids of kept objects in an answer, for styles that hand some out. */
  ids?(answer: Json, marks: IdMarks): void
  /** Undefined when it is no answer of this style. */
  readAnswer(answer: Json, call: TextCall): ReadAnswer | { failed: UpstreamError } | undefined
  stream?: StreamStyle
}
