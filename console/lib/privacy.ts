// The privacy mode: everything marked `private` (names, prompts, secrets) is shown as dots, for shared
// screens. Stored in this browser; theme.js reads it before the first paint.
import { useLayoutEffect } from 'react'
import { useStoredText } from './storage.ts'

/** Put on what an onlooker should not read; console.css does the rest. */
export const privateClass = 'private'

/** Whether the eye is closed, and the way to close or open it. */
export function usePrivacy(): [boolean, () => void] {
  const [stored, store] = useStoredText('gateway-private')
  const isClosed = stored !== undefined
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-private', isClosed)
  }, [isClosed])
  return [isClosed, () => store(isClosed ? undefined : '1')]
}
