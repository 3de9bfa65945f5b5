// Effort of reasoning as a word and as a number of tokens. The limits lie between the budgets, so that
// a word that became a budget becomes the same word again.
import { type Conversation, type Effort, efforts } from './conversation.ts'

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
}

/** The largest budget of each effort. */
const limits: readonly (readonly [number, Effort])[] = [
  [0, 'none'],
  [1_024, 'minimal'],
  [4_096, 'low'],
  [12_288, 'medium'],
  [20_480, 'high'],
  [28_672, 'xhigh'],
]

export const effortOfBudget = (tokens: number): Effort =>
  limits.find(([limit]) => tokens <= limit)?.[1] ?? 'max'

/** The caller's, whichever way it was given. */
export function effortOf({ effort, reasoningBudget }: Conversation): Effort | undefined {
  if (effort !== undefined) return effort
  return reasoningBudget === undefined ? undefined : effortOfBudget(reasoningBudget)
}

export function budgetOf({ effort, reasoningBudget }: Conversation): number | undefined {
  if (reasoningBudget !== undefined) return reasoningBudget
  return effort === undefined ? undefined : budgets[effort]
}

const isEffort = (word: unknown): word is Effort => (efforts as readonly unknown[]).includes(word)

/** Words that upstreams added above or beside the usual ones. */
const otherWords: ReadonlyMap<string, Effort> = new Map([
  ['off', 'none'],
  ['disabled', 'none'],
  ['auto', 'medium'],
  ['default', 'medium'],
  ['ultra', 'max'],
  ['persistent', 'max'],
])

/** `changed`: the word is not one that every style knows, and the nearest is taken. */
export function readEffort(value: unknown): { effort: Effort; changed: boolean } | undefined {
  if (typeof value === 'number' && value >= 0) {
    return { effort: effortOfBudget(value), changed: true }
  }
  if (typeof value !== 'string') return undefined
  const word = value.toLowerCase()
  if (isEffort(word)) return { effort: word, changed: false }
  return { effort: otherWords.get(word) ?? 'high', changed: true }
}
