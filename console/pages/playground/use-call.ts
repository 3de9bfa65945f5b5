// The state of one call: running, answered, stopped or failed, and its charge.
import { useRef, useState } from 'react'
import { ApiError, api } from '../../lib/api.ts'
import { isStyle, styles } from './chat/styles/index.ts'
import { bodyWith } from './request/body.ts'
import { type Endpoint, taskIdIn } from './request/endpoints.ts'
import { type Outcome, send } from './send.ts'

interface Tried {
  isBusy: boolean
  isStopped: boolean
  outcome?: Outcome
  error?: Error
  /** As it was charged; tasks are charged when they end. */
  charge?: string
  /** Who answered, where one may know. */
  channel?: string
  taskId?: string
  /** The body, as it went out. */
  sent?: unknown
}

export interface Attempt extends Tried {
  /** The secret may still be on its way. */
  run(secret: Promise<string>, model: string, text: string, file?: File): Promise<void>
  stop(): void
}

const nothing: Tried = { isBusy: false, isStopped: false }

export function useCall(endpoint: Endpoint): Attempt {
  const [tried, setTried] = useState(nothing)
  const stopper = useRef(new AbortController())
  const note = (more: Partial<Tried>) => setTried((before) => ({ ...before, ...more }))

  async function run(secret: Promise<string>, model: string, text: string, file?: File) {
    stopper.current = new AbortController()
    const { signal } = stopper.current
    setTried({ ...nothing, isBusy: true })
    try {
      const sent = bodyWith(endpoint, model, JSON.parse(text))
      note({ sent })
      const done = await send({
        path: endpoint.path(model),
        token: await secret,
        body: file === undefined ? JSON.stringify(sent) : formWith(sent, file),
        ...(isStyle(endpoint.use) && { style: styles[endpoint.use] }),
        signal,
        onProgress: (outcome) => note({ outcome }),
      })
      note({ outcome: done, ...(await afterwards(done, endpoint)) })
    } catch (cause) {
      note(signal.aborted ? { isStopped: true } : { error: cause as Error })
    } finally {
      note({ isBusy: false })
    }
  }
  return { ...tried, run, stop: () => stopper.current.abort() }
}

/** Fields that are lists are sent once for each of their values. */
function formWith(fields: object, file: File): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each))
  }
  form.append('file', file)
  return form
}

/** Who answered and for how much. An answer is an answer also where that is not to be known. */
export async function afterwards(outcome: Outcome, endpoint?: Endpoint) {
  const { status, requestId, charge } = outcome
  const isTask = status < 400 && endpoint?.taskId !== undefined
  if (isTask) return { taskId: taskIdIn(endpoint, outcome.body) }
  // A call without a valid token is neither charged nor logged.
  if (requestId === '' || status === 401) return {}
  const isAsked = charge === undefined && status < 400
  const [explained, logged] = await Promise.all([
    isAsked ? readSoon<{ charge: string }>(`/explain/${requestId}`) : undefined,
    readSoon<{ channel: string | null }>(`/requests/${requestId}`),
  ])
  const channel = logged?.channel ?? undefined
  const known = charge ?? explained?.charge
  return {
    ...(channel !== undefined && { channel }),
    ...(known !== undefined && { charge: known }),
  }
}

const [maxReads, pauseMs] = [10, 300]

/** A row may be asked for shortly before it is written. */
async function readSoon<T>(path: string): Promise<T | undefined> {
  for (let reads = 1; ; reads++) {
    try {
      return await api<T>('GET', path)
    } catch (cause) {
      const isEarly = cause instanceof ApiError && cause.status === 404
      if (!isEarly || reads === maxReads) return undefined
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
