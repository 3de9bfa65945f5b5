// Whether the gateway answers. The first call that fails, or that waits while a short question is not answered either,
// starts a loop that asks again, ever more rarely, until there is an answer; the banner shows it.
import { useSyncExternalStore } from 'react'

interface Outage {
  /** The first call that got no answer. */
  sinceMs: number
  /** When the gateway is asked again; undefined: at this moment. */
  nextMs: number | undefined
}

const delaysMs = [1_000, 2_000, 3_000, 5_000] as const
/** What a proxy answers in place of a gateway that is down. */
const proxyStatuses: readonly number[] = [502, 503, 504]

/** A call may take longer, where the gateway still answers others. */
const checkAfterMs = 5_000
/** Of the short question. */
const maxAnswerMs = 5_000

let outage: Outage | undefined
let attempt = 0
let timer: ReturnType<typeof setTimeout> | undefined
const changed = new EventTarget()

/** Says `reconnected` once the gateway answers again. */
export const connection = new EventTarget()

function set(next: Outage | undefined): void {
  outage = next
  changed.dispatchEvent(new Event('change'))
}

/** A call got no answer. */
export function reportUnreachable(): void {
  if (outage !== undefined) return
  attempt = 0
  wait(Date.now())
}

function wait(sinceMs: number): void {
  const delayMs = delaysMs[Math.min(attempt++, delaysMs.length - 1)]!
  set({ sinceMs, nextMs: Date.now() + delayMs })
  timer = setTimeout(tryNow, delayMs)
}

/** A gateway that hangs takes a connection and never answers. */
const isAnswering = (): Promise<boolean> =>
  fetch('/admin/v1/session', {
    cache: 'no-store',
    signal: AbortSignal.timeout(maxAnswerMs),
  }).then(
    ({ status }) => !proxyStatuses.includes(status),
    () => false,
  )

let isAsking = false

/** Asks whether the gateway answers at all while a call waits; many may wait. */
async function suspect(): Promise<void> {
  if (isAsking || outage !== undefined) return
  isAsking = true
  if (!(await isAnswering())) reportUnreachable()
  isAsking = false
}

/** The same work; while it takes long, the gateway is asked whether it answers. */
export async function watched<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => void suspect(), checkAfterMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

export async function tryNow(): Promise<void> {
  if (outage === undefined) return
  clearTimeout(timer)
  const { sinceMs } = outage
  set({ sinceMs, nextMs: undefined })
  if (!(await isAnswering())) return wait(sinceMs)
  set(undefined)
  connection.dispatchEvent(new Event('reconnected'))
}

const subscribe = (listener: () => void) => {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}

/** Undefined: the gateway answers. */
export const useOutage = (): Outage | undefined => useSyncExternalStore(subscribe, () => outage)
