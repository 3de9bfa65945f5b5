// Keyboard shortcuts outside of text fields: single letters, `g` and a letter, and those with Ctrl or ⌘.
import { useEffect, useRef } from 'react'

const isMac = /^(Mac|iPhone|iPad)/.test(navigator.platform)
/** The keys of the search, as the keyboard in front of the reader has them. */
export const searchKeys = isMac ? '⌘K' : 'Ctrl K'

type Keys = Readonly<Record<string, () => void>>

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** How long the second key of a pair may take. */
const pairMs = 1_200

/** `k`, `?`, `Escape`, `g t` (one after the other), `mod+k`. */
export function useShortcuts(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    let before = { key: '', atMs: 0 }
    const pressed = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey
      if (event.altKey || (isTyping(event.target) && !mod && event.key !== 'Escape')) return
      const pair = performance.now() - before.atMs < pairMs ? `${before.key} ${event.key}` : ''
      const name = mod ? `mod+${event.key.toLowerCase()}` : event.key
      const work = latest.current[pair] ?? latest.current[name]
      before = { key: event.key, atMs: performance.now() }
      if (work === undefined) return
      event.preventDefault()
      work()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
