// What measures, groups and intervals are called; a tag is called by its own name.
import { useMessages } from '../../lib/messages.ts'
import type { Group, Measure, RollUp } from '../../lib/resources/usage.ts'
import { messages } from './messages.ts'

export type Word = Measure | Group | RollUp | 'none'

export function useWord(): (word: Word) => string {
  const t = useMessages(messages)
  return (word) =>
    word.startsWith('tag:') ? word.slice(4) : t(word as Exclude<Word, `tag:${string}`>)
}
