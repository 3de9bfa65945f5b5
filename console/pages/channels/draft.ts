// What a person has typed about a channel.
import type { Kind } from './upstream-kinds.ts'

export interface Draft {
  name: string
  base: string
  keys: string
}

/** Keys, one per line. */
export const keysIn = (text: string): string[] =>
  text
    .split('\n')
    .map((key) => key.trim())
    .filter((key) => key !== '')

/** A preset knows what may be left out. */
export function isComplete({ name, base, keys }: Draft, kind: Kind | undefined): boolean {
  const { needs_base_url = true, needs_key = true } = kind?.preset ?? {}
  const needed = [name, ...(needs_base_url ? [base] : []), ...(needs_key ? [keys] : [])]
  return needed.every((text) => text.trim() !== '')
}
