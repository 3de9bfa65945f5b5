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

/** `hasFailedTest`: as it was tested on this page; the gateway judges by more than one call. */
export function ChannelHealth({
  channel,
  hasFailedTest = false,
}: {
  channel: Channel
  hasFailedTest?: boolean
}) {
  const server = useServerText()
  if (channel.disabled)
    return <State state="cancelled" label={server.text('channel_health', 'drained')} />
  const { state, reason } = channel.health
  const word = reason === 'keys_rejected' ? reason : state
  if (reason !== null) return <State state="failed" label={server.text('channel_health', word)} />
  return hasFailedTest ? (
    <State state="failed" label={server.text('channel_health', 'test_failed')} />
  ) : (
    <State state={stateFor[state]} label={server.text('channel_health', state)} />
  )
}
