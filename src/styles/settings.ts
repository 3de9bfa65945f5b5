// What upstreams of each style can usually do, unless their channel says otherwise.
import type { TranslationSettings } from '../contract/catalog.ts'
import type { UpstreamStyleName } from './common/conversation.ts'

const usual: TranslationSettings = {
  instructions: 'anywhere',
  documents: true,
  mediaUrls: true,
  cacheControl: false,
  autoCache: false,
  maxTokensField: 'max_tokens',
  replayReasoning: false,
  outputSchema: true,
  freeFormTools: false,
  mediaInResults: true,
  streamOptions: true,
  background: false,
  reasoning: 'effort',
}

export const usualSettings: Readonly<Record<UpstreamStyleName, TranslationSettings>> = {
  // Many servers speak it, and most of them take no more than its first version had.
  chat: { ...usual, instructions: 'first', documents: false },
  responses: { ...usual, freeFormTools: true, background: true },
  messages: { ...usual, instructions: 'first', cacheControl: true },
  generate: { ...usual, instructions: 'first' },
  converse: { ...usual, instructions: 'first', mediaUrls: false, reasoning: 'none' },
}
