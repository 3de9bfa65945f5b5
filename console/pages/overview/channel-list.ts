// The channels, as their health is now.
import type { Page } from '../../lib/api.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { useResource } from '../../lib/use-resource.ts'

export function useChannels(enabled = true) {
  const query = { limit: 100 }
  return useResource<Page<Channel>>('/channels', { query, refetchInterval: 5_000, enabled })
}
