// The health of a channel in one word.

import type { Channel } from '../lib/resources/channel.ts'
import { useServerText } from '../lib/server/use-server-text.ts'
import { State } from './values.tsx'

const stateFor = {
  good: 'good',
  probing: 'unknown',
  avoided: 'unknown',
  blocked: 'failed',
} as const

export function ChannelHealth({ channel }: { channel: Channel }) {
  const server = useServerText()
  if (channel.disabled)
    return <State state="cancelled" label={server.text('channel_health', 'drained')} />
  const { state } = channel.health
  return <State state={stateFor[state]} label={server.text('channel_health', state)} />
}
