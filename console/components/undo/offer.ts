// What was just done, and how it is undone: one at a time, for a few seconds.
import { useSyncExternalStore } from 'react'

interface Offer {
  text: string
  /** Absent: it cannot be undone. */
  undo?: () => Promise<unknown>
}

let current: Offer | undefined
const changed = new EventTarget()

function show(offer: Offer | undefined): void {
  current = offer
  changed.dispatchEvent(new Event('change'))
}

/** Says what was done, with a way back where there is one. */
export const offerUndo = (text: string, undo?: () => Promise<unknown>): void =>
  show({ text, ...(undo && { undo }) })

/** Only if it is still the one that is shown. */
export const forgetOffer = (offer: Offer): void => {
  if (current === offer) show(undefined)
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}

export const useOffer = (): Offer | undefined => useSyncExternalStore(subscribe, () => current)
