// What distinguishes the text styles at the upstream. A style is a table of small functions;
// sending, reading, splitting streams into events and classifying failures are shared.
import type { Protocol } from '../../contract/catalog.ts'
import type { HttpAnswer } from '../../contract/http.ts'
import type { Reported, Upstream, UpstreamError } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { ReportedUsage, ServedAs } from '../../contract/usage.ts'
import type { ShapedField } from '../../lib/http/event-shape.ts'
import type { IdMarks } from './id-marks.ts'
import type { SeenCalls } from './seen-calls.ts'

export type Json = Readonly<Record<string, unknown>>

/** Usage as it is reported: read by the one reader of its style, and as it was received. */
export const reportedBy =
  (read: (raw: unknown) => ReportedUsage | undefined, served?: (raw: unknown) => Served) =>
  (raw: unknown): Reported =>
    withServed({ usage: read(raw), raw: raw ?? undefined }, served?.(raw))

type Served = Reported['served']

/** What an answer says of how it was served; most say nothing. */
export function withServed(reported: Reported, served: Served): Reported {
  if (served !== undefined) reported.served = served
  return reported
}

/** A whole answer, parsed. */
export interface ReadAnswer {
  reported: Reported
  /** All output as text, for when usage is missing. */
  text(): string
  /** The body for the caller, if not the upstream's own. */
  body?: string
  /** Why it ended, in the upstream's word; of several answers the first one's. */
  finishReason?: unknown
}

/** The output that is reported before the end is not all of it. */
export function withoutOutput(reported: Reported): Reported {
  const { usage } = reported
  const known = usage?.inputTokens !== undefined
  return { ...reported, usage: known ? { ...usage, outputTokens: undefined } : undefined }
}

/** The state of a stream so far. */
export interface StreamState {
  /** Not all of the call: a stream must not keep its request in memory. */
  readonly call: Pick<TextCall, 'choices' | 'wantsUsage'>
  readonly upstreamRequestId: string | undefined
  reported: Reported
  /** Said beside the usage, by any event. */
  served?: ServedAs | undefined
  /** The answer has a stop reason; only the end marker may be missing. */
  complete: boolean
  /** Why it ended, in the upstream's word; of several answers the first one's. */
  finishReason?: unknown
  /** By the index of a choice: whether it has stopped. For styles that have no end marker. */
  stopped?: Map<unknown, boolean>
  /** By the index of a choice: its tool calls, for styles that number them. */
  calls?: Map<number, SeenCalls>
  /** Its parts that are whole, for styles whose last event repeats them. */
  items?: Json[]
}

export const newState = (
  { choices, wantsUsage }: Pick<TextCall, 'choices' | 'wantsUsage'>,
  upstreamRequestId: string | undefined,
): StreamState => ({
  call: { choices, wantsUsage },
  upstreamRequestId,
  reported: { usage: undefined, raw: undefined },
  complete: false,
})

/**
 * The handling of one event. `without` passes it without a field, `last` waits for the charge, `hold` waits for
 * the next event and is the last one if none comes, `over` says that the one on hold was the last.
 */
export type Verdict =
  | 'pass'
  | 'hide'
  | 'last'
  | 'hold'
  | 'over'
  | { without: string }
  | { failed: UpstreamError }

export interface StreamStyle {
  /** Which events are forwarded unparsed: those with such a name, or those without such a text. */
  unread: { named: readonly string[] } | { without: readonly string[] }
  /**
   * Marks unparsed events that repeat what is known so far, such as the usage: the last of them is read
   * before the next event that is parsed, and at the end. In answers with one choice only.
   */
  late?: string
  /** Marks the first event of a stream if it says how the answer is served: it is read at the end. */
  first?: string
  /** The field with the object that holds the model name; absent: every event has its own. */
  modelIn?: string
  /** Fields with the model name, one of which an answer may have; absent: `model`, always. */
  modelFields?: readonly string[]
  /** `name` is the text after `event:`, if any. */
  read(data: Json, state: StreamState, name: string | undefined): Verdict
  /** A parsed event with what clients rely on; the same one when nothing is missing. */
  repair?(data: Json, state: StreamState): Json
  /** Where unparsed events, too, may lack some of that. */
  repairIn?: ShapedField
  /** Learns the ids in an event. Events with new ones must be parsed. */
  ids?(data: Json, marks: IdMarks): void
  /** The end marker, where it is not JSON. */
  marker?: string
  /** The final event of a stream that lacks only that. `lastText`: its last bytes. */
  ending(state: StreamState, lastText: string): string | undefined
  /** The finish reason by unparsed events, too, for styles that need them: `bytes` are the last before the end. */
  finishReasonIn?(bytes: Buffer, state: StreamState): unknown
  /** Finds output text in raw events. */
  textField: RegExp
  /** A whole answer as a stream, for upstreams that do not stream on request. */
  fromAnswer(answer: Json): readonly string[]
  /** A stream as a whole answer, for upstreams that stream unasked. */
  toAnswer(events: readonly Json[]): Json | undefined
  /** A stream may also come as a list of its events in JSON. */
  lists?: true
}

/** A request with marks for the prompt cache. */
export interface MarkedBody {
  body: string
  marks: number
}

export interface TextStyle {
  protocol: Protocol
  /** Appended to the base URL. */
  path: string
  /** The same for styles that name the model in the path; the body does not have to. */
  pathOf?(call: TextCall, upstream: Upstream): string
  /** How an answer was served, where its headers say so. */
  servedIn?(answer: HttpAnswer): ServedAs | undefined
  /** The name of an answer in an error text: `a chat completion`. */
  noun: string
  /** A new object every time; the headers of all styles are added to it. */
  headers(call: TextCall, upstream: Upstream): Record<string, string>
  /** Fields to set in the caller's body besides the model name, each with its value as JSON; empty: left out. */
  fieldsFor?(call: TextCall, upstream: Upstream): Readonly<Record<string, string>> | undefined
  /** The body with marks for the prompt cache; undefined when the caller set some, or none can be set. */
  withCacheMarks?(call: TextCall): MarkedBody | undefined
  /** Learns the ids of stored objects in an answer, for styles that have them. */
  ids?(answer: Json, marks: IdMarks): void
  /** An answer with what clients rely on; the same one when nothing is missing. */
  repair?(answer: Json): Json
  /** Undefined when it is no answer of this style. */
  readAnswer(
    answer: Json,
    call: Pick<TextCall, 'fields' | 'makes'>,
  ): ReadAnswer | { failed: UpstreamError } | undefined
  stream?: StreamStyle
}
