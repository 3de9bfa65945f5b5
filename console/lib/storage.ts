// Small texts in localStorage, by name; every component that shows one follows its changes. Without
// localStorage they last until the page is closed.
import { useCallback, useSyncExternalStore } from 'react'

const changed = new EventTarget()
const atHand = new Map<string, string | undefined>()

function readStored(name: string): string | undefined {
  if (!atHand.has(name)) {
    let text: string | null = null
    try {
      text = localStorage.getItem(name)
    } catch {
      // As if there were none.
    }
    atHand.set(name, text ?? undefined)
  }
  return atHand.get(name)
}

function writeStored(name: string, text: string | undefined): void {
  atHand.set(name, text)
  try {
    if (text === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // It stays in memory.
  }
  changed.dispatchEvent(new Event('change'))
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}

/** One text; undefined removes it. */
export function useStoredText(
  name: string,
): [string | undefined, (text: string | undefined) => void] {
  const text = useSyncExternalStore(subscribe, () => readStored(name))
  return [text, useCallback((next: string | undefined) => writeStored(name, next), [name])]
}
