// How a channel is doing, in one word.
import { useWords } from '../../lib/words.ts'
import { State } from '../../parts/values.tsx'
import type { Channel } from './channel.ts'
import { words } from './words.ts'

const stateFor = {
  good: 'good',
  probing: 'unknown',
  avoided: 'unknown',
  blocked: 'failed',
} as const

export function HealthPill({ channel }: { channel: Channel }) {
  const say = useWords(words)
  if (channel.disabled) return <State state="cancelled" label={say('drained')} />
  const { state } = channel.health
  return <State state={stateFor[state]} label={say(state)} />
}
