// The eye: while it is closed, everything marked `private` (names, prompts, secrets) shows as dots, so
// that a screen can be shared. Remembered by this browser; theme.js reads it before the first paint.
import { useLayoutEffect } from 'react'
import { useStoredText } from './storage.ts'

/** Put on what an onlooker should not read; console.css does the rest. */
export const privateClass = 'private'

/** Whether the eye is closed, and the way to close or open it. */
export function usePrivacy(): [boolean, () => void] {
  const [kept, keep] = useStoredText('gateway-private')
  const isClosed = kept !== undefined
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-private', isClosed)
  }, [isClosed])
  return [isClosed, () => keep(isClosed ? undefined : '1')]
}
