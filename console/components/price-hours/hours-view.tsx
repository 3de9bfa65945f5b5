// The hours of a price to be read: a grid for each zone, with what its letters stand for.
import { Group, Stack, Text } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import { hoursMessages } from './messages.ts'
import { type HoursWindow, type Week, weeksOf } from './week.ts'
import { colorOf, letterOf, WeekGrid } from './week-grid.tsx'

export default function HoursView({ hours }: { hours: readonly HoursWindow[] }) {
  return (
    <Stack gap="sm">
      {weeksOf(hours).map((week) => (
        <Stack key={week.zone} gap={4}>
          <WeekGrid zone={week.zone} bands={week.bands} />
          <Legend week={week} />
        </Stack>
      ))}
    </Stack>
  )
}

function Legend({ week: { zone, bands } }: { week: Week }) {
  const t = useMessages(hoursMessages)
  return (
    <Group gap="md">
      <Text size="xs" c="dimmed">
        {zone}
      </Text>
      {bands.map(({ factor, except }, i) => (
        <Group key={letterOf(i)} gap={6}>
          <Swatch band={i} />
          <Text size="xs">
            × {factor}
            {except.length > 0 && ` (${t('except_of', { days: except.join(', ') })})`}
          </Text>
        </Group>
      ))}
    </Group>
  )
}

/** The letter of a factor on its colour, as in the grid. */
export const Swatch = ({ band }: { band: number }) => (
  <span
    className="week-swatch"
    aria-hidden="true"
    style={{ background: `color-mix(in srgb, ${colorOf(band)} 32%, transparent)` }}
  >
    {letterOf(band)}
  </span>
)
