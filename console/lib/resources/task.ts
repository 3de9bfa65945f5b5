// A task as the admin API shows it.
import type { Role } from '../session.ts'

export interface Task {
  kind: 'video' | 'image'
  id: string
  external_id?: string
  account: string | null
  token: string | null
  request_id: string
  interface: 'videos' | 'arkvendor' | 'vendorg' | 'images' | 'imgvendor'
  model: string
  /** Members are not sent these. */
  upstream_model?: string
  channel?: string
  upstream_id?: string | null
  state: State
  progress: number
  request: {
    prompt: string
    seconds?: number
    resolution?: string
    count?: number
    size?: { width: number; height: number } | null
    seed: number | null
    inputs: { kind: string; role: 'first_frame' | 'last_frame' | 'reference' | null; url: string }[]
  }
  hold: string
  charge: string
  usage: Record<string, number | null> | null
  usage_reported: unknown
  files: { kind: 'video' | 'image'; url: string; expires_at: string }[]
  error: { code: string; message: string } | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  updated_at: string
  next_check_at: string | null
  checks: number
  /** How long tasks of its model usually take. */
  expected_ms: number | null
  /** Of a single task only. */
  callback?: Callback | null
  timeline?: Step[]
}

export interface Step {
  kind: string
  at: string
  last_at: string
  times: number
  state: State
  progress: number
  note: string | null
}

interface Callback {
  url: string
  state: string | null
  next_at: string | null
  attempts: CallbackAttempt[]
}

export interface CallbackAttempt {
  at: string
  took_ms: number
  status: number | null
  error: string | null
}

export const states = [
  'accepted',
  'unknown',
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type State = (typeof states)[number]

/** Who may cancel, repeat and resend; others look on. */
export const actors: readonly Role[] = ['operator', 'member']

export const isLive = ({ finished_at }: Task): boolean => finished_at === null

export const elapsedMs = ({ created_at, finished_at }: Task, nowMs: number): number =>
  (finished_at === null ? nowMs : Date.parse(finished_at)) - Date.parse(created_at)

/** Files that can still be opened. */
export const openFiles = ({ files }: Task, nowMs: number) =>
  files.filter(({ expires_at }) => Date.parse(expires_at) > nowMs)
