// The words of the catalog: what can be asked for, by whom, and where it is served. Rows and types.

/** A way callers can ask for models: the name of the surface that declares it. */
export type Interface = string

/** A way upstreams can be asked: the name of the provider that speaks it. */
export type Protocol = string

/** What a surface says of the models that are asked for through it. */
export interface InterfaceRow {
  /** What its calls make. */
  kind: ModelKind
  /** Upstreams are asked in the protocol of the same name, and in no other. */
  own: boolean
  /** By which desktop clients choose how to talk to a model; may be empty. */
  clientWords: readonly string[]
  /** What the long-running style calls it, where it can be asked so. */
  method?: string
  /** The smallest question that is answered at once, to test a channel with. */
  question?: object
}

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
  /** The model whose price applies, when it is not its own: a dated model costs as the undated one. */
  pricedAs?: string
  /** Bounds of one answer of a text model; `modelDefaults` where they are left out. */
  contextWindow?: number
  maxOutputTokens?: number
  maxTokensPerImage?: number
  source: Source
}

/** Bounds of a text model that declares none. Holds and the check of reported usage go by them. */
export const modelDefaults = {
  contextWindow: 1_000_000,
  maxOutputTokens: 32_768,
  maxTokensPerImage: 16_384,
} as const

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
  protocols: Readonly<Record<Protocol, string>>
  /** Gateway name or prefix ending in `*` to upstream name; `*` keeps the name. */
  models: Readonly<Record<string, string>>
  priority: number
  weight: number
  timeouts: Timeouts
  maxConcurrency: number
  messages: MessagesSettings
  /** There when it is not to hear of traces. */
  trace?: false
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
