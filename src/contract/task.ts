// A task: work that is created, polled and ends in its own time. Its states and transitions, the
// plain requests for videos and images, and what an upstream reports. No I/O.
//
//   accepted ──started──> queued ──> running ──> succeeded
//      │  │                  └──────────┴──────> failed, cancelled
//      │  └──refused──────────────────────────> failed
//      └──outcome unknown──> unknown ──found──> queued, running, or an end
//                                └──not found─> failed
//
// accepted: written with its hold, before anything is sent. The first end is final.
import type { Interface, Protocol } from './catalog.ts'
import type { TokenCounts } from './usage.ts'

export const taskStates = [
  'accepted',
  'unknown',
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type TaskState = (typeof taskStates)[number]
/** Why a task cannot be cancelled. */
export const cancelProblems = [
  'over',
  'being_sent',
  'unclear',
  'channel_gone',
  'upstream_cannot',
  'begun',
] as const
export type CancelProblem = (typeof cancelProblems)[number]

type EndState = 'succeeded' | 'failed' | 'cancelled'

const ends: readonly TaskState[] = ['succeeded', 'failed', 'cancelled']
const moves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  accepted: ['unknown', 'queued', 'running', ...ends],
  unknown: ['queued', 'running', ...ends],
  queued: ['running', ...ends],
  running: ends,
  succeeded: [],
  failed: [],
  cancelled: [],
}

export const mayMove = (from: TaskState, to: TaskState): boolean => moves[from].includes(to)
export const isEnd = (state: TaskState): state is EndState => ends.includes(state)

export const resolutions = ['720p', '1080p'] as const
type Resolution = (typeof resolutions)[number]

/** An image or a video that the caller supplies, in the order given. */
export interface InputMedia {
  kind: 'image' | 'video'
  /** Public address or data URI. */
  url: string
  /** Its role, where the caller's dialect names one. */
  role?: 'first_frame' | 'last_frame' | 'reference'
}

/** A video request, independent of any dialect. */
export interface VideoRequest {
  prompt: string
  seconds: number
  /** The smallest one is available to native tasks only. */
  resolution: Resolution | '480p'
  ratio?: string
  seed?: number
  /** What the video should not show. */
  negativePrompt?: string
  /**
   * Which people it may show, and whether the prompt may be reworded: long-running operations only.
   */
  personGeneration?: string
  enhancePrompt?: boolean
  media: readonly InputMedia[]
  /**
   * The length is not sent: the upstream takes that of the source, and `seconds` is an estimate.
   */
  followsSource?: true
  /** A request in an upstream's own format: the body as sent, except for the model. */
  native?: { body: Readonly<Record<string, unknown>> }
  /** Set at admission: its maximum, as sent upstream. */
  bound?: VideoBound
  /** Stored with a task, and shortened: some texts are too long for that. */
  isCut?: true
}

/** The maximum of a video request at an upstream. Frozen at admission, for hold and charge. */
export interface VideoBound {
  /** The maximum of the request: the basis of the hold. */
  seconds: number
  tokens: number
  /** The most expensive possible resolution: the tier of a price by seconds. */
  resolution: VideoRequest['resolution']
  /** Limits for reported usage: the requested length, and the largest size of the model. */
  maxSeconds: number
  maxTokens: number
}

/** An image request, independent of any dialect. */
export interface ImageRequest {
  prompt: string
  /** Images requested: the basis of the hold, not of the charge. */
  count: number
  /** Source images, in order. */
  media: readonly InputMedia[]
  /** Whether the source images are to be edited; otherwise a new image is made. */
  isEdit: boolean
  size?: { width: number; height: number }
  seed?: number
  negativePrompt?: string
  /** A request in an upstream's own format: the body as sent, except for the model. */
  native?: { path: 'generations' | 'omni-image'; body: Readonly<Record<string, unknown>> }
  /** Set at admission where the price is by tokens. */
  tokenBound?: ImageTokenBound
  /** Stored with a task, and shortened: some texts are too long for that. */
  isCut?: true
}

/** The maximum of an image request in tokens. Frozen at admission, for hold and charge. */
export interface ImageTokenBound {
  /** The maximum of the request: the basis of the hold. */
  inputTokens: number
  outputTokens: number
  /** Limits for reported usage: the model's own. */
  maxInputTokens: number
  maxOutputTokens: number
}

/** A result file. */
export interface OutputMedia {
  kind: 'video' | 'image'
  url: string
  /** When the upstream's link expires, as far as known. */
  expiresAtMs?: number
}

export interface TaskUsage {
  /** Seconds of finished video; never those of the input. */
  outputSeconds?: number
  videoTokens?: number
  /** Images that were delivered. */
  images?: number
  /** Of images that are priced by tokens. */
  tokens?: TokenCounts
}

export interface TaskError {
  code: string
  message: string
  upstreamRequestId?: string
}

export type TaskKind = 'video' | 'image'

/** Ids begin with the kind: video_…, image_…. */
export const kindOf = (taskId: string): TaskKind =>
  taskId.startsWith('image_') ? 'image' : 'video'

/** The row behind every view of a task. */
export type Task = VideoTask | ImageTask

export interface VideoTask extends TaskRow {
  kind: 'video'
  request: VideoRequest
}

export interface ImageTask extends TaskRow {
  kind: 'image'
  request: ImageRequest
}

export interface TaskRow {
  id: string
  accountId: string
  tokenId: string
  requestId: string
  /** Where it was created. */
  interface: Interface
  model: string
  /** The model that serves it, if that is not `model`. */
  servedModel?: string
  protocol: Protocol
  channelId: string
  channel: string
  upstreamModel: string
  /** The channel key that created it; only that one may poll it. */
  keyFingerprint: string
  upstreamId?: string
  state: TaskState
  progress: number
  /** Billing facts, frozen at admission. */
  priceId: string
  holdNanos: bigint
  chargeNanos: bigint
  /** What the upstream takes for it; absent: not known, or it is not over. */
  costNanos?: bigint
  media: readonly OutputMedia[]
  usage?: TaskUsage
  /** As the upstream reported it. */
  reported?: unknown
  error?: TaskError
  createdAtMs: number
  updatedAtMs: number
  startedAtMs?: number
  finishedAtMs?: number
  /** When the next poll is due. */
  nextCheckAtMs: number
  checks: number
  /** How often in a row the upstream did not know it, or reported success without a result. */
  misses: number
  /** Since when the upstream has not known it. */
  missingSinceMs?: number
  /** The caller's own id for it, unique in its account. */
  externalId?: string
  /** Where its callback goes. */
  callbackUrl?: string
  /** The owner while it lasts: the gateway that sends its create, or in which a caller waits. */
  awaitedBy?: string
  /** Only that connection can receive its result. */
  ephemeral?: boolean
  /** The trace of its create, as sent to others. */
  trace?: { parent: string; state?: string }
  /** Its tags and its end user: see tags.ts. */
  tags?: string
  /** Deleted for the caller. */
  hidden: boolean
  /** Its timeline as text: see timeline.ts. Lists omit it; a write without it keeps it. */
  timeline?: string
}

/** The model that makes it, whatever name was called. */
export const servingModel = ({ model, servedModel }: Pick<TaskRow, 'model' | 'servedModel'>) =>
  servedModel ?? model

/** How long upstreams keep a result when they do not say. */
const keptMs = 24 * 60 * 60 * 1_000

export const expiryOf = (
  { finishedAtMs, updatedAtMs }: Task,
  { expiresAtMs }: Pick<OutputMedia, 'expiresAtMs'>,
): number => expiresAtMs ?? (finishedAtMs ?? updatedAtMs) + keptMs
