// The tabs of the playground: what one wants to do; which interface does it is chosen inside.
export const tabs = [
  'chat',
  'images',
  'video',
  'embeddings',
  'speech',
  'transcription',
  'rerank',
  'moderation',
  'batch',
] as const

export type Tab = (typeof tabs)[number]
