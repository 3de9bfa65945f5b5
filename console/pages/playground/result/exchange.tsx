// An answer as it came over the wire: how long each part took, its events, and its text.
import { Box, Code, Group, Stack, Tabs, Text } from '@mantine/core'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import type { Outcome } from '../send.ts'
import { LatencyBar } from './latency-bar.tsx'

export function Exchange({ outcome }: { outcome: Outcome }) {
  const t = useMessages(messages)
  const { events, totalMs } = outcome
  const hasEvents = events.length > 0
  return (
    <Stack gap="xs">
      {totalMs !== undefined && <LatencyBar outcome={outcome} />}
      <Tabs defaultValue={hasEvents ? 'events' : 'raw'}>
        <Tabs.List>
          {hasEvents && (
            <Tabs.Tab value="events">
              {t('events')} ({events.length})
            </Tabs.Tab>
          )}
          <Tabs.Tab value="raw">{t('raw')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="events" pt="sm">
          <Events outcome={outcome} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="sm">
          <RawText outcome={outcome} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

export const RawText = ({ outcome: { body, events } }: { outcome: Outcome }) => (
  <Code block tabIndex={0} className={privateClass} style={scrolled}>
    {body === undefined
      ? events.map(({ data }) => data).join('\n')
      : typeof body === 'string'
        ? body
        : JSON.stringify(body, null, 2)}
  </Code>
)

const scrolled = { maxHeight: 500, overflow: 'auto' } as const

/** Only the last ones are drawn: a long stream has thousands. */
const maxShown = 300

export function Events({ outcome: { events } }: { outcome: Outcome }) {
  const format = useFormat()
  const t = useMessages(messages)
  const first = Math.max(0, events.length - maxShown)
  return (
    <Box tabIndex={0} role="group" aria-label={t('events')} style={scrolled}>
      {events.slice(first).map(({ afterMs, data }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two events may be the same in all they are
        <Group key={first + i} gap="xs" wrap="nowrap" align="flex-start">
          <Text size="xs" c="dimmed" w={70} ta="right" style={{ flexShrink: 0 }}>
            {format.ms(afterMs)}
          </Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{data}</Code>
        </Group>
      ))}
    </Box>
  )
}
