// What the gateway itself has complained of lately, the newest first. Its own words, as text.
import { Badge, Group, Stack, Text } from '@mantine/core'
import { Link } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { Panel } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { Time } from '../../parts/values.tsx'
import type { Complaint, Health } from './health.ts'
import { words } from './words.ts'

/** Stacks are for the bundle. */
const longestField = 300

export function Complaints({ health: { complaints, log_lines } }: { health: Health }) {
  const say = useWords(words)
  return (
    <Panel title={say('complaints')}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {complaints.length === 0 ? say('no_complaints') : say('complaints_hint', log_lines)}
        </Text>
        <Link to="/requests?status=502">{say('failed_calls')}</Link>
      </Group>
      {complaints.length > 0 && (
        <ScrollBox label={say('complaints')} minWidth={280} maxHeight="360px">
          <Stack gap="sm">
            {complaints.map((each, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name, and hold nothing
              <OneComplaint key={i} complaint={each} />
            ))}
          </Stack>
        </ScrollBox>
      )}
    </Panel>
  )
}

function OneComplaint({ complaint }: { complaint: Complaint }) {
  const say = useWords(words)
  const { at, level, message, fields } = complaint
  return (
    <div>
      <Group gap="xs">
        <Badge color={level === 'error' ? 'red' : 'yellow'} variant="light" autoContrast>
          {say(level)}
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
          {name}: {String(value).slice(0, longestField)}
        </Text>
      ))}
    </div>
  )
}
