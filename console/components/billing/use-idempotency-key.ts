// A key for a request that must be done once: the same draft has the same key until it is done, so that it
// can be sent again after an answer that was lost.
import { useRef } from 'react'

interface IdempotencyKey {
  of(draft: string): string
  /** The next draft is another request, even if it says the same. */
  done(): void
}

export function useIdempotencyKey(): IdempotencyKey {
  const last = useRef<{ draft: string; key: string }>(undefined)
  return {
    of(draft) {
      if (last.current?.draft !== draft) last.current = { draft, key: newKey() }
      return last.current.key
    },
    done() {
      last.current = undefined
    },
  }
}

/** By a call that browsers also have on pages without TLS. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
