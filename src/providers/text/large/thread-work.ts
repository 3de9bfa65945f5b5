// What is passed to the thread that translates, and back. Messages are flat records, because only those share
// their texts between threads instead of copying them: whatever else they hold is JSON.
import type { ModelKind, Protocol } from '../../../contract/catalog.ts'
import type { Reported, Upstream, UpstreamError } from '../../../contract/provider.ts'
import type { TextCall } from '../../../contract/requests.ts'
import type { AnswerUsage } from '../../../styles/common/answer.ts'
import type { StyleName, UpstreamStyleName } from '../../../styles/common/conversation.ts'
import type { EmbeddingStyle, WriteContext } from '../../../styles/common/style.ts'
import type { RequestWork, WrittenRequest } from '../../../styles/common/translate-request.ts'
import type { ResultForm } from '../batches/result-line.ts'
import type { AskedVectors } from './write-vectors.ts'

export type ThreadWork =
  /** A request to translate: PlainWork. */
  | { work: string; body: string }
  /** An answer to understand: AnswerNotes. */
  | { answer: Uint8Array; notes: string }
  /** A request of a call that is no conversation: CallPlan, and the caller's JSON. */
  | { callPlan: string; request: string }
  /** An answer of a call that is no conversation: CallNotes, and the JSON that was asked. */
  | { callAnswer: Uint8Array; callNotes: string; request: string }
  /** A line of the results of a batch. */
  | { line: Uint8Array; resultForm: ResultForm }
  /** Embeddings to translate: VectorPlan. */
  | { vectorPlan: string; body: string }
  /** An answer to translate: AnswerPlan, fields of the request, names of tools. */
  | { plan: string; body: string; fields: string; names: string }
  /** The events of a whole answer to translate: StreamPlan, and as before. */
  | { streamPlan: string; events: Uint8Array; fields: string; names: string }
  /** An answer whose ids get suffixes: a list of ids, each with its own. */
  | { marks: string; body: string }

export type ThreadResult =
  | RequestResult
  | AnswerResult
  | CallResult
  | LineResult
  | VectorResult
  | TranslatedResult
  | StreamResult
  | Uint8Array<ArrayBuffer>

export interface PlainWork extends Omit<RequestWork, 'from' | 'to' | 'envelopeKey'> {
  from: StyleName
  to: UpstreamStyleName
  /** As Base64. */
  envelopeKey: string
}

/** `names` by themselves, because most answers need none of them. */
export type RequestResult =
  | { body: string; rest: string; names: string }
  | { code: string; message: string; param: string | undefined }

export type PlainResult = Omit<WrittenRequest, 'body' | 'names'> & {
  answerTool: string | undefined
}

/** What has to be known of a call and of an answer to understand it. */
export interface AnswerNotes {
  protocol: Protocol
  streamed: boolean
  stream: boolean
  model: string
  makes?: ModelKind
  encodingFormat?: unknown
  status: number
  headers: Readonly<Record<string, string>>
  requestId?: string
  /** The body is needed as text: it is translated, or its ids get suffixes. */
  wantsText: boolean
  /** Of a stream that goes to the caller as the upstream's style has it. */
  watching?: Watching
}

/** What has to be known of a call to watch its stream. */
interface Watching extends Pick<TextCall, 'choices' | 'wantsUsage'> {
  upstreamModel: string
}

/** `reply` is an AnswerReply; `rest` the StreamRest of a stream that was watched, `ending` its last events. */
export interface AnswerResult {
  reply: string
  body?: string | Uint8Array<ArrayBuffer>
  rest?: string
  ending?: Uint8Array<ArrayBuffer>
  /** A list of the ids that are to get suffixes. */
  ids?: string
}

export type AnswerReply =
  | { kind: 'json'; reported: Reported; outputTokens: number; finishReason?: string }
  | { kind: 'events'; reported: Reported; outputTokens: number }
  | { kind: 'failed'; error: UpstreamError }

/** How such a request is written. */
export interface CallPlan extends Pick<Upstream, 'model' | 'bodyEdits'> {
  protocol: Protocol
}

export interface CallNotes
  extends Pick<AnswerNotes, 'protocol' | 'model' | 'stream' | 'status' | 'headers'> {
  /** `response_format`, where the request is no JSON. */
  format: unknown
}

/** `rest` is a WholeAnswer without its body. */
export interface CallResult {
  rest: string
  body?: Uint8Array<ArrayBuffer>
}

/** `rest` is a BatchResult without its body; absent: it was no result. */
export interface LineResult {
  rest?: string
  body?: Uint8Array<ArrayBuffer>
}

export interface VectorPlan extends AskedVectors {
  from: EmbeddingStyle['name']
  to: EmbeddingStyle['name']
}

/** Without a body: it does not have the vectors. */
export interface VectorResult {
  body?: Uint8Array<ArrayBuffer>
}

/** How an answer is read and written. */
export interface AnswerPlan {
  from: StyleName
  to: UpstreamStyleName
  realm: string
  /** As Base64. */
  envelopeKey: string
  answerTool?: string
  writing: Omit<WriteContext, 'fields' | 'envelopes'>
  usage: AnswerUsage
}

/** `rest` is a TranslatedRest. */
export interface TranslatedResult {
  rest: string
  body?: Uint8Array<ArrayBuffer>
}

export type TranslatedRest =
  | { losses: readonly string[]; hasCalls: boolean }
  | { failure: UpstreamError }

/** The same for a stream. */
export interface StreamPlan extends AnswerPlan {
  call: Pick<TextCall, 'model' | 'choices' | 'wantsUsage'>
  requestId?: string
}

/** `rest` is a StreamRest; `ending` are the last events. */
export interface StreamResult {
  rest: string
  body: Uint8Array<ArrayBuffer>
  ending?: Uint8Array<ArrayBuffer>
}

export interface StreamRest {
  outcome?: 'finished' | UpstreamError
  reported: Reported
  losses?: readonly string[]
  events: number
  outputTokens: number
  finishReason?: string
}
