// A task: work that is created, looked at later and ends on its own time. Its states and the moves
// between them, the plain requests for videos and pictures, and what an upstream reports. No I/O.
//
//   accepted ──started──> queued ──> running ──> succeeded
//      │  │                  └──────────┴──────> failed, cancelled
//      │  └──refused──────────────────────────> failed
//      └──outcome unknown──> unknown ──found──> queued, running, or an end
//                                └──not found─> failed
//
// accepted: written with its hold, before anything is sent. The first end is the end for ever.
import type { Interface, Protocol } from './catalog.ts'

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
export type EndState = 'succeeded' | 'failed' | 'cancelled'

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
export type Resolution = (typeof resolutions)[number]

/** A picture or a video the caller hands over, in the order it came. */
export interface InputMedia {
  kind: 'image' | 'video'
  /** Public address or data URI. */
  url: string
  /** What it is for, where the caller's dialect says so. */
  role?: 'first_frame' | 'last_frame' | 'reference'
}

/** What a caller wants filmed, in nobody's dialect. */
export interface VideoRequest {
  prompt: string
  seconds: number
  /** The smallest one can be had by native tasks only. */
  resolution: Resolution | '480p'
  ratio?: string
  seed?: number
  /** What the video should not show. */
  negativePrompt?: string
  /** Whom it may show, and whether the prompt may be reworded: long-running operations only. */
  personGeneration?: string
  enhancePrompt?: boolean
  media: readonly InputMedia[]
  /** The length is not sent: the upstream takes that of the source. `seconds` is only a guess then. */
  followsSource?: true
  /** A request in an upstream's own words: its body as it goes up, but for the model. */
  native?: { body: Readonly<Record<string, unknown>> }
  /** Set at admission: what it can come to, as it goes upstream. */
  bound?: VideoBound
  /** Kept with a task, and not all of it: some texts are too long for that. */
  isCut?: true
}

/** What a request for a video can come to at an upstream. Frozen at admission, for hold and charge. */
export interface VideoBound {
  /** The most that the request can come to: what is held for. */
  seconds: number
  tokens: number
  /** The dearest it can be: the tier of a price by seconds. */
  resolution: VideoRequest['resolution']
  /** A longer one was not asked for, a larger one the model cannot make: reports above are not believed. */
  maxSeconds: number
  maxTokens: number
}

/** What a caller wants drawn, in nobody's dialect. */
export interface ImageRequest {
  prompt: string
  /** Pictures asked for: what is set aside for, not what is charged for. */
  count: number
  /** Pictures to start from, in order. */
  media: readonly InputMedia[]
  /** Whether those are to be changed, rather than nothing or something new drawn. */
  isEdit: boolean
  size?: { width: number; height: number }
  seed?: number
  negativePrompt?: string
  /** A request in an upstream's own words: its body as it goes up, but for the model. */
  native?: { path: 'generations' | 'omni-image'; body: Readonly<Record<string, unknown>> }
  /** Kept with a task, and not all of it: some texts are too long for that. */
  isCut?: true
}

/** What came of it. */
export interface OutputMedia {
  kind: 'video' | 'image'
  url: string
  /** When the upstream's address stops working, as far as it says. */
  expiresAtMs?: number
}

export interface TaskUsage {
  /** Seconds of finished video; never those of the input. */
  outputSeconds?: number
  videoTokens?: number
  /** Pictures that were delivered. */
  pictures?: number
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
  protocol: Protocol
  channelId: string
  channel: string
  upstreamModel: string
  /** Which of the channel's keys made it; only that one may ask for it. */
  keyMark: string
  upstreamId?: string
  state: TaskState
  progress: number
  /** Billing facts, frozen when it was admitted. */
  priceId: string
  holdNanos: bigint
  chargeNanos: bigint
  media: readonly OutputMedia[]
  usage?: TaskUsage
  /** As the upstream reported it. */
  reported?: unknown
  error?: TaskError
  createdAtMs: number
  updatedAtMs: number
  startedAtMs?: number
  finishedAtMs?: number
  /** When the poller looks next. */
  nextCheckAtMs: number
  checks: number
  /** How often in a row the upstream did not know it, or called it done without a result. */
  doubts: number
  /** Since when the upstream has not known it. */
  missingSinceMs?: number
  /** The caller's own name for it, unique in its account. */
  externalId?: string
  /** Who is to be told of its end. */
  callbackUrl?: string
  /** The gateway that sends its create, or in which a caller waits for it: it is its own so long. */
  waitedBy?: string
  /** Nobody can see its result but that connection. */
  unseen?: boolean
  /** The trace its create belongs to, as it is told to others. */
  trace?: { parent: string; state?: string }
  /** Removed from the caller's sight. */
  hidden: boolean
  /** Its steps, in writing: see timeline.ts. Lists leave it out; what is written without it keeps it. */
  timeline?: string
}

/** How long upstreams keep a result when they do not say. */
const keptMs = 24 * 60 * 60 * 1_000

export const expiryOf = (
  { finishedAtMs, updatedAtMs }: Task,
  { expiresAtMs }: Pick<OutputMedia, 'expiresAtMs'>,
): number => expiresAtMs ?? (finishedAtMs ?? updatedAtMs) + keptMs
