// Fields of a request of the generate style, which callers may write in camel case or with
// underscores. A field in both spellings at once could be read as either, and is refused.
import type { Refusal } from '../../contract/errors.ts'
import type { KeyTable } from '../../http/body/exact-keys.ts'
import { type Fields, wrong } from '../common/fields.ts'

/** maxOutputTokens -> max_output_tokens */
export const snakeOf = (camel: string): string => {
  const known = snakes.get(camel)
  if (known !== undefined) return known
  const snake = camel.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  snakes.set(camel, snake)
  return snake
}

/** One entry for each field that this surface reads. */
const snakes = new Map<string, string>()

/** Under either name; null counts as absent. */
export const fieldIn = (holder: Fields, camel: string): unknown =>
  holder[camel] ?? holder[snakeOf(camel)] ?? undefined

/** A table with both spellings of each of its fields. */
export function bothSpellings(table: KeyTable): KeyTable {
  const both: Record<string, KeyTable | true> = {}
  for (const [name, inner] of Object.entries(table)) {
    both[name] = inner
    both[snakeOf(name)] = inner
  }
  return both
}

/** The first of these fields that is there in both spellings. */
export function givenTwice(holder: Fields, names: readonly string[], at = ''): Refusal | undefined {
  for (const name of names) {
    const snake = snakeOf(name)
    if (snake === name || holder[snake] === undefined || holder[name] === undefined) continue
    return wrong(at + name, `'${at}${name}' is given twice, also as '${snake}'`)
  }
  return undefined
}
