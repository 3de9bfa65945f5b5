// What distinguishes the protocols of calls that are no conversation: reranking, moderation, sound. A style is a
// table of small functions; sending, reading and classifying failures are shared.
import type { Protocol } from '../../contract/catalog.ts'
import type { Reported, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { Json, StreamStyle } from '../text/style.ts'

/** What an answer has to fit. */
export type AnsweredCall = Pick<TextCall, 'model' | 'stream' | 'fields'>

/** A whole answer, read. */
export interface CallAnswer {
  reported: Reported
  /** The body for the caller, if not the upstream's own. */
  body?: string
  /** Output as text, for when usage is missing. */
  text?: string
}

export interface CallStyle {
  protocol: Protocol
  /** Appended to the base URL. */
  path: string
  /** The same where a protocol has several calls. */
  pathOf?(call: TextCall): string
  /** The name of an answer in an error text. */
  noun: string
  /** Fields to set in the caller's JSON besides the model name, each as JSON; empty: left out. */
  fieldsFor?(call: Pick<TextCall, 'fields'>): Readonly<Record<string, string>> | undefined
  /** The request, where it is not the caller's JSON. */
  encode?(call: TextCall, upstream: Upstream): { type: string; bytes: Uint8Array }
  /** What a whole answer to this call is; absent: JSON. */
  formOf?(call: AnsweredCall): 'json' | 'text' | 'file'
  readAnswer(answer: Json, call: AnsweredCall): CallAnswer | undefined
  /** Whether the caller's answer has parts of the request in it. */
  repeatsRequest?(call: AnsweredCall): boolean
  /** Output tokens of a file, for when usage is missing. */
  countFileTokens?(call: TextCall): number
  /** Its events; absent: it does not stream. */
  stream?: StreamStyle
}
