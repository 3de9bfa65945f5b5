// Names that 0.2 and earlier wrote into rows, with those of today. Rows keep what they were written with, and
// readers translate it. Only this file and the migrations contain former names.
import type { RequestDetail } from './requests.ts'
import type { TaskRow } from './task.ts'

/** Kinds of steps in a task's timeline. */
export const formerStepKinds = {
  look: 'polled',
  look_failed: 'poll_failed',
  missing: 'not_found',
  empty: 'no_output',
  not_asked: 'skipped',
  cancel_asked: 'cancel_requested',
  late_look: 'late_poll',
  late_look_failed: 'late_poll_failed',
  gap: 'truncated',
} as const

/** Tables in backups of earlier schemas: filled under these names, renamed by a migration. */
export const formerTables: readonly string[] = ['creates', 'money_hours', 'late_looks']

interface FormerTaskBody {
  keyMark?: string
  doubts?: number
  waitedBy?: string
  unseen?: boolean
  usage?: { pictures?: number }
}

/** The JSON of a task's row. Each one that 0.2 wrote has a `keyMark`. */
export function readTaskBody<Body extends Partial<TaskRow>>(text: string): Body {
  const body = JSON.parse(text) as Body & FormerTaskBody
  if (body.keyMark === undefined) return body
  const { keyMark, doubts, waitedBy, unseen, usage, ...rest } = body
  const { pictures, ...units } = usage ?? {}
  return {
    ...rest,
    keyFingerprint: keyMark,
    misses: doubts,
    ...(waitedBy !== undefined && { awaitedBy: waitedBy }),
    ...(unseen !== undefined && { ephemeral: unseen }),
    ...(usage !== undefined && {
      usage: pictures === undefined ? units : { ...units, images: pictures },
    }),
  } as unknown as Body
}

/** The JSON of a request's row. */
export function readRequestDetail(text: string): RequestDetail {
  const { absorbed, ...detail } = JSON.parse(text) as RequestDetail & {
    absorbed?: RequestDetail['loss']
  }
  return absorbed === undefined ? detail : { ...detail, loss: absorbed }
}
