// Something a person does that the gateway may refuse: under way, and what went wrong last time.
import { useState } from 'react'

export interface Action {
  isBusy: boolean
  error: Error | undefined
  fail(error: Error): void
  /** True when it was done; else `error` says why not. */
  run(work: () => Promise<unknown>): Promise<boolean>
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (cause) {
      setError(cause as Error)
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, error, fail: setError, run }
}
