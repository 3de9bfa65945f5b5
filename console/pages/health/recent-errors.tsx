// What the gateway itself has complained of lately, the newest first. Its own messages, as text.
import { Badge, Group, Stack, Text } from '@mantine/core'
import { Panel } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Complaint, Health } from '../../lib/resources/health.ts'
import { Link } from '../../lib/router.tsx'
import { messages } from './messages.ts'

/** Stacks are for the bundle. */
const maxFieldLength = 300

export function RecentErrors({ health: { complaints, log_lines } }: { health: Health }) {
  const t = useMessages(messages)
  return (
    <Panel title={t('complaints')}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {complaints.length === 0 ? t('no_complaints') : t('complaints_hint', log_lines)}
        </Text>
        <Link to="/requests?status=502">{t('failed_calls')}</Link>
      </Group>
      {complaints.length > 0 && (
        <ScrollBox label={t('complaints')} minWidth={280} maxHeight="360px">
          <Stack gap="sm">
            {complaints.map((each, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name, and hold nothing
              <RecentError key={i} complaint={each} />
            ))}
          </Stack>
        </ScrollBox>
      )}
    </Panel>
  )
}

function RecentError({ complaint }: { complaint: Complaint }) {
  const t = useMessages(messages)
  const { at, level, message, fields } = complaint
  return (
    <div>
      <Group gap="xs">
        <Badge color={level === 'error' ? 'red' : 'yellow'} variant="light" autoContrast>
          {t(level)}
        </Badge>
        <Text size="sm" c="dimmed">
          <Time at={at} how="short" />
        </Text>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
      </Group>
      {Object.entries(fields).map(([name, value]) => (
        <Text key={name} size="xs" style={{ overflowWrap: 'anywhere' }}>
          {name}: {String(value).slice(0, maxFieldLength)}
        </Text>
      ))}
    </div>
  )
}
