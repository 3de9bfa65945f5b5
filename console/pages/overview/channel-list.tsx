// The channels at a glance.
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChannelHealth } from '../../components/channel-health.tsx'
import { api, type Page } from '../../lib/api.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { Link } from '../../lib/router.tsx'

export function useChannels() {
  return useQuery({
    queryKey: ['channels'],
    queryFn: () => api<Page<Channel>>('GET', '/channels', { query: { limit: 100 } }),
    refetchInterval: 5_000,
  })
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
