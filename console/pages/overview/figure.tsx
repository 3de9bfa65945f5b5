// A figure with its change against the time before, and a link to what is behind it.
import { Group, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { tabularNumbers } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link } from '../../lib/router.tsx'
import { type Against, changeOf, unusual } from './figures.ts'
import { messages } from './messages.ts'

export interface Compared {
  /** Of the figure that is shown. */
  against?: Against | undefined
  kind?: 'amount' | 'share'
  /** More of it is better, or worse; of some things neither. */
  good?: 'up' | 'down'
}

interface FigureProps extends Compared {
  title: string
  value: string
  /** Where `value` is rounded. */
  exact?: string
  note?: ReactNode
  to: string
  /** As the chart beside it has it. */
  color?: string
}

export function Figure({ title, value, exact = value, note, to, color, ...compared }: FigureProps) {
  return (
    <Link to={to} className="figure">
      <Text size="xs" c="dimmed">
        {color !== undefined && (
          <span aria-hidden="true" style={{ color }}>
            ■{' '}
          </span>
        )}
        {title}
      </Text>
      <Group gap={8} align="baseline">
        <Text fw={600} fz="xl" lh={1.3} style={tabularNumbers} title={exact}>
          {value}
        </Text>
        <Delta {...compared} />
      </Group>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Link>
  )
}

const arrows = { up: '▲', down: '▼', same: '=' } as const

export function Delta({ against, kind = 'amount', good }: Compared) {
  const t = useMessages(messages)
  const format = useFormat()
  const change = against && changeOf(against, kind)
  if (change === undefined) return null
  const { way, by } = change
  const size =
    kind === 'share'
      ? t('points', { n: format.number(Math.round(Math.abs(by) * 1000) / 10) })
      : by + 1 >= unusual
        ? `${format.number(Math.round(by + 1))} ×`
        : format.percent(Math.abs(by))
  const color =
    good === undefined || way === 'same'
      ? 'dimmed'
      : `var(--mantine-color-${way === good ? 'teal' : 'red'}-light-color)`
  return (
    <Text size="xs" c={color} style={tabularNumbers} title={t('against')}>
      <span aria-hidden="true">{arrows[way]}</span>
      <VisuallyHidden>{t(way)}</VisuallyHidden> {way === 'same' ? '' : size}
    </Text>
  )
}
