// Named moments at which the process can be made to die, for tests that prove it may. Not armed, a
// point costs one comparison. Knows nothing of what happens around it.

export const crashPoints = [
  'task-accepted',
  'task-answered',
  'task-refused',
  'task-queued',
  'task-lost',
  'task-leased',
  'task-looked',
  'task-ending',
  'task-ended',
  'task-cancelling',
  'call-answered',
  'call-settled',
  'purse-drawn',
  'purse-returned',
  'media-copied',
  'media-kept',
  'callback-due',
  'callback-sent',
  'month-closing',
  'month-closed',
  'schema-step',
] as const
export type CrashPoint = (typeof crashPoints)[number]

export interface CrashAt {
  point: CrashPoint
  /** The how-manieth time it is passed; 1 is the first. */
  time: number
}

/** Told of every point that is passed; whoever simulates processes lets them die in its own way. */
export type CrashWatch = (point: CrashPoint) => void

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
