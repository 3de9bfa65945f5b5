// The current time, updated while the component is shown.
import { useEffect, useState } from 'react'

export function useNow(intervalMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return nowMs
}
