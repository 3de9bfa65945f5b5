// What this browser keeps for whoever sits at it: small texts by name, told to every part that shows
// them. A browser that keeps nothing has them until the page is closed.
import { useCallback, useSyncExternalStore } from 'react'

const changed = new EventTarget()
const atHand = new Map<string, string | undefined>()

export function readStored(name: string): string | undefined {
  if (!atHand.has(name)) {
    let text: string | null = null
    try {
      text = localStorage.getItem(name)
    } catch {
      // As if it had never been there.
    }
    atHand.set(name, text ?? undefined)
  }
  return atHand.get(name)
}

export function writeStored(name: string, text: string | undefined): void {
  atHand.set(name, text)
  try {
    if (text === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // It is at hand all the same.
  }
  changed.dispatchEvent(new Event('change'))
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}

/** One of them; undefined forgets it. */
export function useStoredText(
  name: string,
): [string | undefined, (text: string | undefined) => void] {
  const text = useSyncExternalStore(subscribe, () => readStored(name))
  return [text, useCallback((next: string | undefined) => writeStored(name, next), [name])]
}
