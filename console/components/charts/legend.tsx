// Below a chart: what each color stands for, and the figure for all of it.
import { Group, Text } from '@mantine/core'
import { tabularNumbers } from '../values.tsx'

interface LegendItem {
  name: string
  /** A color of the theme, as in `var(--c1)`. */
  color: string
  /** The figure for all of it. */
  value: string
}

/** Names are as long as people make them. */
const wholeName = { ...tabularNumbers, whiteSpace: 'normal', overflowWrap: 'anywhere' } as const

export const Legend = ({ items }: { items: readonly LegendItem[] }) => (
  <Group gap="4px 16px">
    {items.map(({ name, color, value }) => (
      <Text key={name} size="xs" style={wholeName}>
        <span aria-hidden="true" style={{ color }}>
          ■{' '}
        </span>
        {name} {value}
      </Text>
    ))}
  </Group>
)
