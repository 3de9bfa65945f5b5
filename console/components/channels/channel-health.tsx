// The health of a channel in one word, the same on every page: from its circuit, its open alert, and how its
// calls of the last hour went, which a restart of the gateway does not forget.
import { useOpenAlerts } from '../../lib/open-alerts.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { useRecentCalls } from '../../lib/resources/recent-calls.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { State } from '../values.tsx'

/** Of this many calls or more, so much must succeed. */
const minJudged = 5
const minSuccess = 0.95

/** `hasFailedTest`: as it was tested on this page; the gateway judges by more than one call. */
export function ChannelHealth({
  channel,
  hasFailedTest = false,
}: {
  channel: Channel
  hasFailedTest?: boolean
}) {
  const server = useServerText()
  const alerts = useOpenAlerts().data?.items ?? []
  const calls = useRecentCalls(channel.name)
  const isDown =
    channel.health.reason !== null ||
    alerts.some(({ kind, subject }) => kind === 'channel_down' && subject === channel.id)
  const isFailing =
    calls !== undefined &&
    calls.attempts >= minJudged &&
    1 - calls.failed / calls.attempts < minSuccess
  const said = (state: string, word: string) => (
    <State state={state} label={server.text('channel_health', word)} />
  )
  if (channel.disabled) return said('cancelled', 'drained')
  if (channel.health.reason === 'keys_rejected') return said('failed', 'keys_rejected')
  if (isDown) return said('failed', 'down')
  if (hasFailedTest) return said('failed', 'test_failed')
  if (channel.health.state === 'blocked') return said('failed', 'down')
  if (isFailing || channel.health.state === 'avoided') return said('unknown', 'failing')
  if (channel.health.state === 'probing') return said('unknown', 'probing')
  return said('good', 'good')
}
