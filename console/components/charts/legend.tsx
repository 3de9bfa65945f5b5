// Below a chart: where its time begins and ends, and what each color stands for.
import { Group, Text } from '@mantine/core'
import { tabularNumbers } from '../values.tsx'

interface LegendItem {
  name: string
  /** A color of the theme, as in `var(--mantine-color-teal-6)`. */
  color: string
  /** The figure for all of it. */
  value: string
}

export const Legend = ({
  from,
  to,
  items,
  mark = '■',
}: {
  from: string | undefined
  to: string | undefined
  items: readonly LegendItem[]
  mark?: string
}) => (
  <>
    <Group justify="space-between" gap="xs">
      <Text size="xs" c="dimmed" style={tabularNumbers}>
        {from}
      </Text>
      <Text size="xs" c="dimmed" style={tabularNumbers}>
        {to}
      </Text>
    </Group>
    <Group gap="md" justify="center">
      {items.map(({ name, color, value }) => (
        <Text key={name} size="xs" style={tabularNumbers}>
          <span aria-hidden="true" style={{ color }}>
            {mark}{' '}
          </span>
          {name} {value}
        </Text>
      ))}
    </Group>
  </>
)
