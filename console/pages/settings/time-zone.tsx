// The time zone of the reader, stored in the browser.
import { Button, Group, Select, Text } from '@mantine/core'
import { Panel } from '../../components/page.tsx'
import { useTimeZone, zoneNames, zoneText } from '../../lib/format/time-zone.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'

export function TimeZone() {
  const t = useMessages(messages)
  const format = useFormat()
  const [zone, setZone] = useTimeZone()
  return (
    <Panel title={t('time_zone')}>
      <Text size="sm" mb="xs">
        {t('time_zone_hint')}
      </Text>
      <Group align="flex-end">
        <Select
          label={t('time_zone')}
          data={zoneNames()}
          limit={50}
          searchable
          allowDeselect={false}
          value={zone}
          onChange={(next) => setZone(next ?? undefined)}
        />
        <Button variant="default" onClick={() => setZone(undefined)}>
          {t('browser_zone')}
        </Button>
      </Group>
      <Text size="sm" c="dimmed" mt="xs">
        {zoneText(zone)} · {format.fullTime(new Date().toISOString())}
      </Text>
    </Panel>
  )
}
