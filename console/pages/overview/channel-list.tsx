// The channels at a glance.

import { Group, Stack, Text } from '@mantine/core'
import { ChannelHealth } from '../../components/channel-health.tsx'
import type { Page } from '../../lib/api.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'

export function useChannels(enabled = true) {
  const query = { limit: 100 }
  return useResource<Page<Channel>>('/channels', { query, refetchInterval: 5_000, enabled })
}

export function ChannelList() {
  const { data } = useChannels()
  return (
    <Stack gap={6}>
      {data?.items.map((channel) => (
        <Group key={channel.id} justify="space-between" wrap="nowrap">
          <Link to={`/channels?open=${channel.id}`}>{channel.name}</Link>
          <Group gap="xs" wrap="nowrap">
            <Text size="xs" c="dimmed">
              {channel.health.busy} / {channel.max_concurrency}
            </Text>
            <ChannelHealth channel={channel} />
          </Group>
        </Group>
      ))}
    </Stack>
  )
}
