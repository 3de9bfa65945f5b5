// A chart over time: bars in a stack, or lines with gaps, with axes, a tooltip, a legend and, for those who
// do not see it, its values as a table.
import { Center, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { LazyPlot } from './lazy-plot.tsx'
import { Legend } from './legend.tsx'
import { messages } from './messages.ts'
import { gutterPx } from './plot-layout.ts'
import { type ChartKind, isEmpty, type Series, sumOf } from './series.ts'
import { TableToggle } from './table-toggle.tsx'
import { TipBox } from './tip-box.tsx'
import { type StepSize, useMoments } from './use-moments.ts'
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
  by?: StepSize
  heightPx?: number
  onPick?: (index: number) => void
  /** Laid over the bars. */
  overlay?: ReactNode
  /** False: the page has the table elsewhere. */
  hasTable?: boolean
}

export function Chart(props: ChartProps) {
  const { label, kind = 'bars', moments, series, format = String, heightPx = 190, by } = props
  const t = useMessages(messages)
  const own = useFormat()
  const { name, zone } = useMoments(by)
  const [at, setAt] = useState<{ index: number; leftPx: number }>()
  const total = (each: Series) => each.total ?? format(sumOf(each))
  const axis = props.axis ?? own.compact
  const legend = <Legend items={series.map((each) => ({ ...each, value: total(each) }))} />
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
      {props.hasTable === false ? (
        legend
      ) : (
        <TableToggle
          legend={legend}
          table={() => <ValueTable {...{ label, moments, series, format, name }} />}
        />
      )}
    </figure>
  )
}
