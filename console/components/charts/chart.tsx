// A chart over time: bars in a stack, or lines with gaps, with axes, a tooltip, a legend and, for those who
// do not see it, its values as a table.
import { Button, Center, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { LazyPlot } from './lazy-plot.tsx'
import { Legend } from './legend.tsx'
import { messages } from './messages.ts'
import { gutterPx } from './plot-layout.ts'
import { type ChartKind, isEmpty, type Series, sumOf } from './series.ts'
import { TipBox } from './tip-box.tsx'
import { ValueTable } from './value-table.tsx'

interface ChartProps {
  label: string
  kind?: Exclude<ChartKind, 'dots'>
  /** The start of each step, in milliseconds. */
  moments: readonly number[]
  series: readonly Series[]
  /** A value with its unit. */
  format?: (value: number) => string
  /** A short value, for the axis. */
  axis?: (value: number) => string
  /** Days and months are those of UTC. */
  by?: 'minute' | 'hour' | 'day' | 'month'
  heightPx?: number
  onPick?: (index: number) => void
  /** Laid over the bars. */
  overlay?: ReactNode
  hasTable?: boolean
}

/** What a step is called, and the zone of its axis. */
function useMoments(by: ChartProps['by'] = 'hour') {
  const format = useFormat()
  const iso = (ms: number) => new Date(ms).toISOString()
  const names = {
    minute: (ms: number) => format.minute(iso(ms)),
    hour: (ms: number) => format.minute(iso(ms)),
    day: (ms: number) => `${format.utcDay(iso(ms))} UTC`,
    month: (ms: number) => `${format.utcMonth(iso(ms))} UTC`,
  }
  const isUtc = by === 'day' || by === 'month'
  return { name: names[by], zone: isUtc ? 'UTC' : format.zone }
}

export function Chart(props: ChartProps) {
  const { label, kind = 'bars', moments, series, format = String, heightPx = 190, by } = props
  const t = useMessages(messages)
  const own = useFormat()
  const { name, zone } = useMoments(by)
  const [at, setAt] = useState<{ index: number; leftPx: number }>()
  const [isTable, setTable] = useState(false)
  const total = (each: Series) => each.total ?? format(sumOf(each))
  const axis = props.axis ?? own.compact
  const summary = [label, ...series.map((each) => `${each.name} ${total(each)}`)].join(', ')
  if (isEmpty(series)) {
    return (
      <Center h={heightPx} role="img" aria-label={label}>
        <Text c="dimmed">{t('none')}</Text>
      </Center>
    )
  }
  return (
    <figure style={{ margin: 0 }}>
      <div style={{ position: 'relative' }} role="img" aria-label={summary}>
        <LazyPlot
          {...{ kind, series, heightPx, zone }}
          xs={moments.map((ms) => ms / 1000)}
          axes={{
            x: (seconds, step) => own.tick(seconds * 1000, zone, step),
            y: axis,
          }}
          onCursor={(index, leftPx) => setAt(index === null ? undefined : { index, leftPx })}
          {...(props.onPick && { onPick: props.onPick })}
        />
        {props.overlay}
        {at !== undefined && moments[at.index] !== undefined && (
          <TipBox
            leftPx={at.leftPx + gutterPx.left}
            title={name(moments[at.index]!)}
            rows={series.map((each) => ({ ...each, value: each.values[at.index] ?? null }))}
            format={format}
            totalName={kind === 'bars' && series.length > 1 ? t('total') : undefined}
          />
        )}
      </div>
      <Group justify="center" gap="md">
        <Legend items={series.map((each) => ({ ...each, value: total(each) }))} />
        {props.hasTable !== false && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isTable}
            onClick={() => setTable(!isTable)}
          >
            {t(isTable ? 'as_chart' : 'as_table')}
          </Button>
        )}
      </Group>
      {isTable && <ValueTable {...{ label, moments, series, format, name }} />}
    </figure>
  )
}
