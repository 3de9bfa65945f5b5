// Answers as upstreams of the generate style send them.
import type { Json } from '../common/conversation.ts'

export const upstreamUsage: Json = {
  promptTokenCount: 90,
  toolUsePromptTokenCount: 10,
  cachedContentTokenCount: 60,
  candidatesTokenCount: 30,
  thoughtsTokenCount: 10,
  totalTokenCount: 140,
}

export const chunk = (parts: readonly Json[], fields: Json = {}): Json => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...fields }],
  modelVersion: 'up-model',
  responseId: 'r1',
})

export const lastChunk = (
  parts: readonly Json[],
  finishReason = 'STOP',
  fields: Json = {},
): Json => ({
  ...chunk(parts, { finishReason, ...fields }),
  usageMetadata: upstreamUsage,
})

export const calling = (name: string, args: Json, fields: Json = {}): Json => ({
  functionCall: { name, args },
  ...fields,
})

/** A stream with every kind of part. */
export const stream: readonly Json[] = [
  { ...chunk([{ text: 'Let me ', thought: true }]), usageMetadata: { promptTokenCount: 90 } },
  chunk([{ text: 'see.', thought: true }]),
  chunk([{ text: 'Hello, ' }]),
  chunk([{ text: 'wörld' }]),
  chunk([calling('read_file', { path: 'a b' }, { thoughtSignature: 'sig==' })]),
  chunk([{ functionCall: { id: 'given', name: 'read_file' } }]),
  lastChunk([{ text: '', thoughtSignature: 'late==' }]),
]

/** The same as one answer. */
export const whole: Json = lastChunk([
  { text: 'Let me see.', thought: true },
  { text: 'Hello, wörld' },
  calling('read_file', { path: 'a b' }, { thoughtSignature: 'sig==' }),
  { functionCall: { id: 'given', name: 'read_file' } },
  { text: '', thoughtSignature: 'late==' },
])
