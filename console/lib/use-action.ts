// An action of a person that the gateway may refuse: whether it runs, and its last error.
import { useState } from 'react'

interface Action {
  isBusy: boolean
  error: Error | undefined
  /** True if it succeeded; else `error` has the reason. */
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
  return { isBusy, error, run }
}
