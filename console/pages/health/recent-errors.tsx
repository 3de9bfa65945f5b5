// The newest warnings and errors of the gateway's own log.
import { Badge, Group, Stack, Text } from '@mantine/core'
import { Panel } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { Time } from '../../components/values.tsx'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Health, LoggedError } from '../../lib/resources/health.ts'
import { Link } from '../../lib/router.tsx'
import { logLines } from './log-lines.ts'
import { messages } from './messages.ts'

/** Whole stacks are in the diagnostics file. */
const maxFieldLength = 300

export function RecentErrors({ health }: { health: Health }) {
  const t = useMessages(messages)
  const { recent_errors: errors, log_lines } = health
  return (
    <Panel title={t('recent_errors')}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {errors.length === 0 ? t('no_recent_errors') : t('recent_errors_hint', log_lines)}
        </Text>
        <Link to="/requests?status=502">{t('failed_calls')}</Link>
      </Group>
      {errors.length > 0 && (
        <ScrollBox label={t('recent_errors')} minWidth={280} maxHeight="360px">
          <Stack gap="sm">
            {errors.map((each, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name, and hold nothing
              <RecentError key={i} error={each} />
            ))}
          </Stack>
        </ScrollBox>
      )}
    </Panel>
  )
}

function RecentError({ error }: { error: LoggedError }) {
  const t = useMessages(messages)
  const language = useLanguage()
  const { at, level, message, fields } = error
  const line = language === 'zh' && Object.hasOwn(logLines, message) ? logLines[message] : message
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
          {line}
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
