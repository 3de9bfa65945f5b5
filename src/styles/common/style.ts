// What a text style offers to translation: its reader and its writer of requests, answers and
// streams. Any style translates into any other through the conversation; none knows another.
import type { TranslationSettings } from '../../contract/catalog.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { AnswerEvent, Emit, StreamReader, StreamWriter } from './answer.ts'
import type { Conversation, Json, Sampling, StyleName, UpstreamStyleName } from './conversation.ts'
import type { Envelopes, IsForeign } from './envelope.ts'
import type { Growth } from './growth.ts'
import type { Losses } from './losses.ts'
import type { AnswerNames, ToolNames } from './tool-names.ts'

/** A caller's request, parsed with `parseExact`. */
export interface GivenRequest {
  fields: Json
  /** The same as text. */
  body: string
  envelopes: Envelopes
}

/** The upstream that a request is written for: settings of its channel, and limits of the model. */
export interface Target {
  /** The upstream's name of the model. */
  model: string
  stream: boolean
  /** The output limit that the hold is for; writers that need a limit send this one. */
  maxOutputTokens: number
  /** Every change is a refusal. */
  strict: boolean
  envelopes: Envelopes
  /** Seals of other realms are not sent. */
  realm: string
  settings: TargetSettings
  /** For what could grow without end. */
  growth: Growth
}

export type TargetSettings = TranslationSettings

export interface ReadContext {
  names: AnswerNames
  envelopes: Envelopes
  realm: string
}

/** The caller's side of an answer. */
export interface WriteContext {
  /** The part of an answer's id behind the style's prefix. */
  id: string
  /** The name the caller used. */
  model: string
  createdMs: number
  /** The caller's own request, for styles that repeat it in the answer. */
  fields: Json
  /** Of its tools only those that a writer of answers tells apart. */
  conversation: Pick<Conversation, 'showReasoning' | 'wantsSeals' | 'tools'>
  envelopes: Envelopes
  /** Estimated; for styles that give a count before the first output. */
  inputTokens: number
  /**
   * The caller is a coding tool that takes an incomplete response for a broken connection and does not
   * know refusals (responses).
   */
  codingTool?: boolean
}

/** What is needed of a style that an upstream speaks. */
export interface UpstreamStyle {
  name: UpstreamStyleName
  writeRequest(
    conversation: Conversation,
    target: Target,
    names: ToolNames,
    losses: Losses,
  ): Json | Refusal
  lacks: Lacked
  /** A whole answer of an upstream, parsed with `parseExact`. */
  readAnswer(answer: Json, context: ReadContext, emit: Emit): void
  newReader(context: ReadContext): StreamReader
  /** Which tool names it allows. */
  toolName: RegExp
  /** Absent: upstreams of the style do not count the input of a call. */
  count?: CountStyle
}

/** One that callers speak, too. */
export interface Style extends UpstreamStyle {
  name: StyleName
  readRequest(given: GivenRequest, losses: Losses): Conversation | Refusal
  /** A caller's request without the seals that the upstream must not get; the same if there are none. */
  stripSeals(request: Json, isForeign: IsForeign): Json
  /** The field that holds them, as its callers know it. */
  sealField: string
  /** A whole answer for the caller. The events are complete and end with `stop` and `usage`. */
  writeAnswer(events: readonly AnswerEvent[], context: WriteContext): Json
  newWriter(context: WriteContext): StreamWriter
}

/** Settings of a request that upstreams of the style do not take as given. */
interface Lacked {
  settings: readonly (keyof Sampling)[]
  minOutputTokens?: number
  maxTemperature?: number
}

/** Whether a request loses none of its settings in the style. */
export function keepsSettings(
  { settings, minOutputTokens = 0, maxTemperature }: Lacked,
  { sampling, maxOutputTokens = minOutputTokens }: Conversation,
): boolean {
  if (maxOutputTokens < minOutputTokens) return false
  if (maxTemperature !== undefined && (sampling.temperature ?? 0) > maxTemperature) return false
  return settings.every((name) => sampling[name] === undefined)
}

/** How the input of a call is counted without making it. */
interface CountStyle {
  /** The request in the body of a caller's question; absent: that body is the request. */
  requestIn?(fields: Json): Json
  /** The body of a question about a request that `writeRequest` has written. */
  bodyOf(request: Json, model: string): Json
}

/** A request for embeddings in no style. */
export interface EmbeddingRequest {
  inputs: readonly string[]
  /** Absent: as the model does it. */
  dimensions?: number
  /** What the vectors are for, and the caller's name of the field. */
  purpose?: { value: 'query' | 'document'; field: string }
}

type Vectors = readonly (readonly unknown[])[]

export interface EmbeddingStyle {
  name: 'embeddings' | 'generate'
  /** The call's name, where the style has several. */
  method?: string
  readRequest(fields: Json, losses: Losses): EmbeddingRequest | Refusal
  writeRequest(request: EmbeddingRequest, model: string, losses: Losses): Json
  /** One vector for each input, in order; undefined when it is no such answer. */
  readVectors(answer: Json): Vectors | undefined
  writeAnswer(vectors: Vectors, context: EmbeddingContext): Json
}

/** The caller's side of an answer. */
interface EmbeddingContext {
  /** The name the caller used. */
  model: string
  fields: Json
  inputTokens: number
}
