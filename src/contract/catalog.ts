// The catalog's types: models, the tokens that may use them, and the channels that serve them.

/** An interface for callers: the name of the surface that declares it. */
export type Interface = string

/** An upstream protocol: the name of the provider that speaks it. */
export type Protocol = string

/** What a surface declares about the models it serves. */
export interface InterfaceRow {
  /** What its calls produce. */
  kind: ModelKind
  /** Upstreams are called in the protocol of the same name, and in no other. */
  own: boolean
  /**
   * Protocols that its calls can be translated into, by the kind of model, best first, for models that
   * no channel serves in its own.
   */
  translates?: Readonly<Partial<Record<ModelKind, readonly Protocol[]>>>
  /** Upstreams of the protocol of the same name take no lower limit of the output. */
  minOutputTokens?: number
  /** Desktop clients choose by it how to talk to a model; may be empty. */
  clientWords: readonly string[]
  /** Its calls by name, in styles that name them, by the kind of model that they are for. */
  methods?: Readonly<Partial<Record<ModelKind, readonly string[]>>>
  /** The smallest request that gets an immediate answer, to test a channel with. */
  question?: object | ((upstream: Partial<TranslationSettings>) => object)
  /** The same for models of other kinds than its own, with the name of the call. */
  questions?: Readonly<Partial<Record<ModelKind, { method: string; fields: object }>>>
}

/** What depends on the kind of a model and on nothing else, in the order of forms and of documents. */
interface ModelKindRow {
  /** In the console, in English and in Chinese. */
  title: readonly [string, string]
  /** Of its prices; a new one begins with the first. */
  units: readonly string[]
  /** Of a new model. */
  interfaces: readonly string[]
  /** A channel for it speaks one of these; any server that follows the chat style has the first. None: it depends. */
  protocols: readonly string[]
}

const alone = <const Name extends string>(name: Name) =>
  ({ interfaces: [name], protocols: [name] }) as const

const text = ['chat', 'responses', 'messages', 'generate'] as const
const embedding = ['embeddings', 'generate'] as const

export const modelKindRows = {
  text: { title: ['Text', '文本'], units: ['token'], interfaces: text, protocols: text },
  embedding: {
    title: ['Embedding', '向量'],
    units: ['token'],
    interfaces: embedding,
    protocols: embedding,
  },
  image: { title: ['Image', '图片'], units: ['image', 'token'], ...alone('images') },
  video: {
    title: ['Video', '视频'],
    units: ['video_second', 'video_token'],
    interfaces: ['videos'],
    protocols: [],
  },
  rerank: { title: ['Rerank', '重排'], units: ['search', 'token'], ...alone('rerank') },
  moderation: { title: ['Moderation', '审核'], units: ['free', 'token'], ...alone('moderations') },
  speech: { title: ['Speech', '语音合成'], units: ['character', 'token'], ...alone('speech') },
  transcription: {
    title: ['Transcription', '语音识别'],
    units: ['audio_second', 'token'],
    ...alone('transcriptions'),
  },
} as const satisfies Readonly<Record<string, ModelKindRow>>

export type ModelKind = keyof typeof modelKindRows

export const modelKinds = Object.keys(modelKindRows) as ModelKind[]

/** Where a thing was declared: shipped with the gateway, gateway.yaml, or the admin API. */
export type Source = 'builtin' | 'file' | 'api'

/** What a provider says of the data it is sent; shown to operators. */
export interface DataPolicy {
  retention?: string
  training?: 'no' | 'opt_out' | 'unpaid' | 'yes'
}

/** What an upstream account promises of data; what it does not say, it does not promise. */
export interface DataTerms {
  training?: NonNullable<DataPolicy['training']>
  retentionDays?: number
  region?: string
}

/** What a token or account requires of it. */
export interface DataRequirement extends DataTerms {
  training?: 'no'
}

export interface Model extends DataPolicy {
  name: string
  kind: ModelKind
  interfaces: readonly Interface[]
  /** Upstream protocols that can serve it, in order of preference. */
  protocols: readonly Protocol[]
  displayName: string
  ownedBy: string
  /**
   * The model with the price that applies, if not its own: a dated model costs as the undated one.
   */
  pricedAs?: string
  /** Bounds of one answer of a text model; `modelDefaults` where absent. */
  contextWindow?: number
  maxOutputTokens?: number
  maxTokensPerImage?: number
  /** Set when it is only served in the interfaces it declares. */
  translate?: false
  /** Set when the fastest of its equal channels is preferred; else the least busy. */
  routing?: 'latency'
  /** Set when it is a name over other models. */
  virtual?: VirtualTerms
  /** Set when it is another name of that model; its own name may be a prefix ending in `*`. */
  alias?: string
  /** What serves a virtual model or an alias. Only models of the catalog's snapshot have it. */
  backing?: Backing
  source: Source
}

/** Whether it is a name over other models, as opposed to one with upstreams of its own. */
export const isNameOnly = ({ virtual, alias }: Model): boolean =>
  virtual !== undefined || alias !== undefined

/** Who pays which price: that of the virtual name, or that of the model that served. */
export const virtualPrices = ['own', 'served'] as const

/** Whether another than the first choice of a virtual model may serve a call. */
export const fallbackModes = ['allowed', 'never'] as const

/** A virtual model as it is declared. */
export interface VirtualTerms {
  /** In order. Those with a weight are picked by weight; all others follow in order. */
  members: readonly { model: string; weight?: number }[]
  price: (typeof virtualPrices)[number]
}

/** One of the models that can serve a virtual model. */
export interface Member {
  model: Model
  weight?: number
}

export interface Backing {
  members: readonly Member[]
  /** The name with the price that applies; absent: the price of the member that serves. */
  pricedAs?: string
}

/** Bounds of a text model that declares none. Holds and the check of reported usage use them. */
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

/** Options for an upstream of the messages style. */
export interface MessagesSettings {
  /** Header names for the version and the betas. */
  headers: 'msgapi' | 'anthropic' | 'both'
  auth: 'x-api-key' | 'bearer' | 'both'
  /** Sent instead of the caller's version. */
  version?: string
}

/** What upstreams of one text style differ in when a call is translated for them. */
export interface TranslationSettings {
  /** Where instructions may stand. */
  instructions: 'first' | 'anywhere'
  /** It takes documents. */
  documents: boolean
  /** It fetches media by URL. */
  mediaUrls: boolean
  /** It reads `cache_control` on parts (messages always does). */
  cacheControl: boolean
  /** Mark the prompt for its cache when the caller marks nothing. */
  autoCache: boolean
  /** The name of the output limit in the chat style. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** It wants the reasoning of earlier turns back as text. */
  replayReasoning: boolean
  /** It takes a JSON schema for the output. */
  outputSchema: boolean
  /** It takes tools with free text as their input (chat and responses). */
  freeFormTools: boolean
  /** It takes media inside of the results of tools (generate). */
  mediaInResults: boolean
  /** It takes `stream_options` (chat); those that do not report usage in streams unasked. */
  streamOptions: boolean
  /** It makes responses in the background (responses). */
  background: boolean
  /** How it is told to reason: by a word, by a number of tokens, or not at all. */
  reasoning: 'effort' | 'budget' | 'none'
}

/** What a channel changes in its requests, last of all. Header names are in small letters. */
export interface ChannelRules {
  headers?: { set: Record<string, string>; remove: string[] }
  body?: { set: Record<string, unknown>; remove: string[] }
}

/** An account at a cloud, as it is kept in place of a key: as JSON, and sealed. */
export type CloudCredential =
  | {
      kind: 'aws'
      access_key: string
      secret_key: string
      session_token?: string | undefined
      region: string
    }
  | {
      kind: 'azure'
      tenant: string
      client_id: string
      client_secret: string
      authority?: string | undefined
    }
  | {
      kind: 'google'
      /** Absent: that of the machine, from its metadata server. */
      account?:
        | {
            client_email: string
            private_key: string
            private_key_id?: string | undefined
            token_uri?: string | undefined
          }
        | undefined
      metadata?: string | undefined
      project?: string | undefined
    }

/** Where what a provider bills is read; `key` is sealed where it is stored. */
export interface BillingAccess {
  kind: 'openai' | 'anthropic' | 'openrouter'
  key: string
  url?: string
}

export interface Channel extends DataPolicy {
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
  /** Calls of other text styles: refused when they would lose something, or all; absent: translated. */
  translation?: 'strict' | 'off'
  /** What its upstream can do, where that is not as usual for its style. */
  capabilities?: Partial<TranslationSettings>
  /** Channels of one style and one realm accept each other's sealed reasoning; absent: by host. */
  realm?: string
  /** Set when calls of one conversation are spread over its keys. */
  affinity?: 'off'
  /** Mark prompts for the upstream's cache where the caller marks nothing. */
  autoCache?: true
  /** Set when it must not receive trace headers. */
  trace?: false
  request?: ChannelRules
  data?: DataTerms
  /** A decimal: the part of the general price that it takes for models without a cost of their own. */
  costFactor?: string
  billing?: BillingAccess
  /** Its upstream takes batches; absent: the gateway makes the calls of their lines. */
  batches?: 'native'
  /**
   * Its only key is a cloud account: which kind, and where. `location`: calls are in Vertex form;
   * `machine`: it is that of the machine.
   */
  cloud?: { kind: CloudCredential['kind']; region?: string; location?: string; machine?: true }
  /** The preset that it was made from. */
  preset?: string
  disabled: boolean
  source: Source
}

export interface TokenLimits {
  rpm?: number
  tpm?: number
  concurrency?: number
}

/** A caller's credential; the secret itself is stored as an HMAC only. */
export interface Token {
  id: string
  accountId: string
  accountName: string
  name: string
  /** First characters of the secret, to recognise it. */
  prefix: string
  /** Names, or prefixes ending in `*`. */
  models: readonly string[]
  limits: TokenLimits
  allowedIps: readonly string[]
  /** Its calls in other text styles than a channel's: as with channels. */
  translation?: 'strict' | 'off'
  /** Tags of its calls, unless a call says otherwise. */
  tags?: Readonly<Record<string, string>>
  /** The same as text: those that its account declares. */
  tagDefaults?: string
  /** Names of tags that its account declares. */
  tagNames?: readonly string[]
  /** How its account keeps end users, if not hashed. */
  endUsers?: 'plain' | 'off'
  /** Set when only the first choice of a virtual model may serve its calls. */
  fallback?: 'never'
  /** What channels must promise of data to be asked; its account's besides. */
  require?: DataRequirement
  accountRequire?: DataRequirement
  expiresAtMs?: number
  disabled: boolean
  source: Source
  /** The token whose budget it shares, because one took the place of the other. */
  lineage?: string
}
