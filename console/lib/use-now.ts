// The current time, updated while the component is shown.
import { useEffect, useState } from 'react'

export function useNow(refetchMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), refetchMs)
    return () => clearInterval(timer)
  }, [refetchMs])
  return nowMs
}
