// The words of the catalog: what can be asked for, by whom, and where it is served. Types only.

export const interfaces = [
  'chat',
  'responses',
  'messages',
  'embeddings',
  'images',
  'videos',
  'imgvendor',
  'arkvendor',
  'vendorg',
] as const
/** A way a caller can ask. */
export type Interface = (typeof interfaces)[number]

export const protocols = [
  'chat',
  'responses',
  'messages',
  'embeddings',
  'images',
  'vf',
  'imgvendor',
  'arkvendor',
  'vendorg',
] as const
/** A way an upstream can be asked. */
export type Protocol = (typeof protocols)[number]

export const modelKinds = ['text', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/** Who declared a thing: shipped with the gateway, gateway.yaml, or the admin API. */
export type Source = 'builtin' | 'file' | 'api'

export interface Model {
  name: string
  kind: ModelKind
  interfaces: readonly Interface[]
  /** Upstream protocols that can serve it, in order of preference. */
  protocols: readonly Protocol[]
  displayName: string
  ownedBy: string
  /** Most output tokens one answer can have; bounds the hold when the caller sets no limit. */
  maxOutputTokens?: number
  source: Source
}

export interface Timeouts {
  connectMs: number
  firstByteMs: number
  idleMs: number
  totalMs: number
}

/** How an upstream of the messages style wants to be spoken to. */
export interface MessagesSettings {
  /** Under which names the version and the betas go. */
  headers: 'msgapi' | 'anthropic' | 'both'
  auth: 'x-api-key' | 'bearer' | 'both'
  /** Sent instead of the caller's version. */
  version?: string
}

export interface Channel {
  id: string
  name: string
  region: string
  keys: readonly string[]
  protocols: Readonly<Partial<Record<Protocol, string>>>
  /** Gateway name or prefix ending in `*` to upstream name; `*` keeps the name. */
  models: Readonly<Record<string, string>>
  priority: number
  weight: number
  timeouts: Timeouts
  maxConcurrency: number
  messages: MessagesSettings
  disabled: boolean
  source: Source
}

export interface TokenLimits {
  rpm?: number
  tpm?: number
  concurrency?: number
}

/** A caller's credential as the gateway knows it; the secret itself is stored as an HMAC only. */
export interface Token {
  id: string
  accountId: string
  accountName: string
  name: string
  /** First characters of the secret, to recognise it by. */
  prefix: string
  /** Names, or prefixes ending in `*`. */
  models: readonly string[]
  limits: TokenLimits
  allowedIps: readonly string[]
  expiresAtMs?: number
  disabled: boolean
  source: Source
}
