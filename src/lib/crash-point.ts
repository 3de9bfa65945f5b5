// Named points at which tests can kill the process, to prove that it may die there. An unarmed
// point costs one comparison. Knows nothing of what happens around it.

export const crashPoints = [
  'task-accepted',
  'task-answered',
  'task-refused',
  'task-moved',
  'task-queued',
  'task-lost',
  'task-leased',
  'task-polled',
  'task-ending',
  'task-ended',
  'task-cancelling',
  'response-kept',
  'response-claimed',
  'response-begun',
  'response-answered',
  'call-answered',
  'call-settled',
  'records-journaled',
  'records-applied',
  'credit-lease-drawn',
  'credit-lease-returned',
  'media-copied',
  'media-kept',
  'callback-due',
  'callback-sent',
  'notice-written',
  'notice-due',
  'notice-sent',
  'month-closing',
  'month-closed',
  'bill-sending',
  'bill-sent',
  'batch-line',
  'batch-files',
  'native-held',
  'native-uploaded',
  'native-created',
  'native-adopting',
  'native-kept',
  'schema-step',
] as const
export type CrashPoint = (typeof crashPoints)[number]

export interface CrashAt {
  point: CrashPoint
  /** On which pass to crash, 1-based. */
  time: number
}

/** Called for every point passed; a simulation uses it to end its processes. */
type CrashWatch = (point: CrashPoint) => void

let armed: CrashAt | CrashWatch | undefined
let passed = 0

export function armCrashPoint(at: CrashAt | CrashWatch | undefined): void {
  armed = at
  passed = 0
}

export function crashPoint(point: CrashPoint): void {
  if (armed === undefined) return
  if (typeof armed === 'function') {
    armed(point)
    return
  }
  if (armed.point !== point) return
  passed++
  // No handler runs and nothing is flushed: as if the machine had stopped.
  if (passed === armed.time) process.kill(process.pid, 'SIGKILL')
}
