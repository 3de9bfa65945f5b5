// What a person has typed about a channel.
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

export const isComplete = ({ name, base, keys }: Draft): boolean =>
  [name, base, keys].every((text) => text.trim() !== '')
