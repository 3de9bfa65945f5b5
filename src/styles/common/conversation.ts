// A request in no style: what every text style can say, as one ordered conversation. Each style has
// a reader that makes one and a writer that writes one. Nothing here knows money or an upstream.

import type { Seal } from './envelope.ts'

export const styleNames = ['chat', 'responses', 'messages', 'generate'] as const
export type StyleName = (typeof styleNames)[number]
/** Those that upstreams speak: some of them no caller does. */
export type UpstreamStyleName = StyleName | 'converse'

export type Json = Readonly<Record<string, unknown>>

/** A caller's mark for the upstream's prompt cache, on the part before which the prefix ends. */
export interface CacheMark {
  ttl?: string
}

interface Marked {
  cache?: CacheMark
}

export interface TextPart extends Marked {
  type: 'text'
  text: string
}

/** A file inside the request, as base64, or by URL. Exactly one of `data` and `url` is set. */
export interface MediaPart extends Marked {
  type: 'image' | 'document' | 'audio' | 'video'
  mimeType?: string
  /** Base64 as received: never decoded here. */
  data?: string
  url?: string
  /** The content of a text document, instead of `data` and `url`. */
  text?: string
  name?: string
  detail?: string
}

export interface ToolCallPart extends Marked {
  type: 'call'
  id: string
  name: string
  /** The namespace that the tool belongs to, in styles that have them. */
  namespace?: string
  /** Its input is free text, not JSON. */
  freeForm: boolean
  /** JSON text exactly as received, or the raw text of a free-form call. */
  input: string
  seal?: Seal
}

export interface ToolResultPart extends Marked {
  type: 'result'
  callId: string
  /** The tool's name, where the style gives it. */
  name?: string
  parts: readonly (TextPart | MediaPart)[]
  isError: boolean
  /** Stands for one that the caller did not give: nothing of it can be lost. */
  isMade?: true
}

export interface ReasoningPart {
  type: 'reasoning'
  /** Empty where the upstream shows none. */
  text: string
  seal?: Seal
  /** The upstream withheld the text; only the seal exists. */
  redacted?: true
}

export interface RefusalPart {
  type: 'refusal'
  text: string
}

export type Part =
  | TextPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart

/** Neighbours have different roles: readers merge turns of one role. */
export interface Turn {
  role: 'user' | 'assistant' | 'system'
  parts: Part[]
}

export interface Tool extends Marked {
  name: string
  namespace?: string
  description?: string
  /** Absent for a free-form tool. */
  schema?: Json
  strict?: boolean
  /** A search for further tools, which the caller runs; a style may have a type of its own for it. */
  search?: true
  /** Takes free text instead of JSON; with the grammar it must follow, if any, and its notation. */
  freeForm?: { grammar?: string; syntax?: string }
}

export type ToolChoice =
  | { mode: 'auto' | 'none' | 'required' }
  | { mode: 'tool'; name: string; namespace?: string }
  /** Only some of the tools, by choice of the model or (`required`) at least one of them. */
  | { mode: 'allowed'; names: readonly string[]; required: boolean }

export type OutputFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | { kind: 'schema'; schema: Json; name?: string; description?: string; strict?: boolean }

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export interface Sampling {
  temperature?: number
  topP?: number
  topK?: number
  presencePenalty?: number
  frequencyPenalty?: number
  seed?: number
}

/** What a part of a conversation is called in the caller's own style. */
export interface FieldNames {
  system: string
  turns: string
  tools: string
  /** Of a tool: its arguments must match its schema exactly. */
  toolStrict: string
  /** Of a tool: takes free text. */
  toolFreeForm: string
  toolChoice: string
  parallelCalls: string
  maxOutputTokens: string
  stop: string
  temperature: string
  topP: string
  topK: string
  presencePenalty: string
  frequencyPenalty: string
  seed: string
  format: string
  effort: string
  choices: string
  logprobs: string
  logitBias: string
  cache: string
  /** Reasoning of earlier turns, and its seal. */
  reasoning: string
  /** A refusal of an earlier turn. */
  refusal: string
  image: string
  document: string
  audio: string
  video: string
  /** What a tool gave back; and that it is an error. */
  result: string
  isError: string
}

/** Another service tier than the usual one, and the field that asks for it. */
export interface WantedTier {
  name: string
  param: string
}

export interface Conversation {
  /** For refusals and the list of losses. */
  fieldNames: FieldNames
  /** Leading instructions, part by part, so that cache marks survive. */
  system: TextPart[]
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** Several tool calls in one answer; undefined where the caller does not say. */
  parallelCalls?: boolean
  /** The caller's own limit for the output. */
  maxOutputTokens?: number
  stop: readonly string[]
  sampling: Sampling
  format: OutputFormat
  /** Undefined leaves reasoning as the upstream has it by default. */
  effort?: Effort
  /** A budget in tokens, where the caller gave one instead of an effort. */
  reasoningBudget?: number
  /** The caller wants to see (a summary of) the reasoning. */
  showReasoning?: boolean
  /** The caller can return seals, and wants them. */
  wantsSeals?: boolean
  /** Answers wanted (`n`); writers that have no such field refuse more than one. */
  choices: number
  /** Number of alternatives per token; 0 for the chosen one only. */
  logprobs?: number
  logitBias?: Json
  verbosity?: string
  cacheKey?: string
  endUser?: string
  /** Undefined: the usual one. */
  tier?: WantedTier
}
