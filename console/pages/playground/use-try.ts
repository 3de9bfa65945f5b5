// The state of one try: on its way, answered, failed, and the price of it.
import { useRef, useState } from 'react'
import { ask } from '../../lib/api.ts'
import { bodyWith } from './editor.tsx'
import { type Trial, valueAt } from './interfaces.ts'
import { type Outcome, send, tokenFor } from './send.ts'

export interface Attempt {
  isBusy: boolean
  outcome: Outcome | undefined
  error: Error | undefined
  /** As it was charged; tasks are charged when they end. */
  charge: string | undefined
  taskId: string | undefined
  run(account: string, model: string, text: string): Promise<void>
  stop(): void
}

export function useTry(trial: Trial): Attempt {
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>()
  const [error, setError] = useState<Error>()
  const [charge, setCharge] = useState<string>()
  const [taskId, setTaskId] = useState<string>()
  const stopper = useRef(new AbortController())

  async function run(account: string, model: string, text: string): Promise<void> {
    stopper.current = new AbortController()
    setBusy(true)
    setOutcome(undefined)
    setError(undefined)
    setCharge(undefined)
    setTaskId(undefined)
    try {
      const done = await send({
        path: trial.path(model),
        token: await tokenFor(account),
        body: JSON.stringify(bodyWith(trial, model, JSON.parse(text))),
        signal: stopper.current.signal,
        onProgress: setOutcome,
      })
      setOutcome(done)
      if (done.status >= 400) return
      if (trial.taskId !== undefined) {
        // An operation's name ends in its id.
        setTaskId(String(valueAt(done.body, trial.taskId)).split('/').at(-1))
        return
      }
      const { charge: paid } = await ask<{ charge: string }>('GET', `/explain/${done.requestId}`)
      setCharge(paid)
    } catch (cause) {
      if ((cause as Error).name !== 'AbortError') setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const stop = () => stopper.current.abort()
  return { isBusy, outcome, error, charge, taskId, run, stop }
}
