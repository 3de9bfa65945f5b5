// How a channel is doing, in one word.

import { useMessages } from '../lib/messages.ts'
import type { Channel } from '../lib/resources/channel.ts'
import { messages } from '../pages/channels/messages.ts'
import { State } from './values.tsx'

const stateFor = {
  good: 'good',
  probing: 'unknown',
  avoided: 'unknown',
  blocked: 'failed',
} as const

export function ChannelHealth({ channel }: { channel: Channel }) {
  const t = useMessages(messages)
  if (channel.disabled) return <State state="cancelled" label={t('drained')} />
  const { state } = channel.health
  return <State state={stateFor[state]} label={t(state)} />
}
