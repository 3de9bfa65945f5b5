// What the chart says at the pointer: the time, and the value of every series.
import { Card, Text } from '@mantine/core'
import { tabularNumbers } from '../values.tsx'

interface TipRow {
  name: string
  color: string
  value: number | null
}

/** Wider than this on the right of the pointer it would leave the chart. */
const roomPx = 240

export function TipBox({
  leftPx,
  title,
  rows,
  format,
  totalName,
}: {
  leftPx: number
  title: string
  rows: readonly TipRow[]
  format: (value: number) => string
  /** Of the sum; without it there is none. */
  totalName: string | undefined
}) {
  const shown = rows.filter(({ value }) => value !== null && value !== 0)
  const sum = shown.reduce((all, { value }) => all + (value ?? 0), 0)
  const side = leftPx > roomPx ? { right: `calc(100% - ${leftPx - 12}px)` } : { left: leftPx + 12 }
  return (
    <Card
      withBorder
      shadow="sm"
      px="xs"
      py={4}
      radius="sm"
      role="tooltip"
      style={{ position: 'absolute', top: 4, zIndex: 2, pointerEvents: 'none', ...side }}
    >
      <Text size="xs" fw={600}>
        {title}
      </Text>
      {shown.map(({ name, color, value }) => (
        <Text key={name} size="xs" style={tabularNumbers}>
          <span aria-hidden="true" style={{ color }}>
            ■{' '}
          </span>
          {name} {format(value ?? 0)}
        </Text>
      ))}
      {totalName !== undefined && (
        <Text size="xs" style={tabularNumbers}>
          {totalName} {format(sum)}
        </Text>
      )}
    </Card>
  )
}
