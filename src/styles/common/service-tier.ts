// The service tier that a request asks for, as other styles name it. One that a style has nothing like is a loss.
import type { Conversation, WantedTier } from './conversation.ts'
import type { Losses } from './losses.ts'

const usual = new Set(['', 'auto', 'default', 'standard', 'standard_only', 'unspecified'])

export function readTier(value: unknown, param: string): WantedTier | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.toLowerCase().replace(/^service_tier_/, '')
  return usual.has(name) ? undefined : { name, param }
}

/** `words`: those of the style; undefined: it takes any, and has no `fast` of its own. */
export function writeTier(
  { tier }: Conversation,
  words: Readonly<Record<string, string>> | undefined,
  losses: Losses,
): string | undefined {
  if (tier === undefined) return undefined
  const { name, param } = tier
  if (words === undefined) return name === 'fast' ? 'priority' : name
  if (Object.hasOwn(words, name)) return words[name]
  losses.add(param)
  return undefined
}
