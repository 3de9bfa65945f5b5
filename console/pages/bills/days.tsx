// A bill by day: a chart by model, and a table.

import { Card, Skeleton, Text } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor, seriesColors } from '../../components/charts/series.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { withUnit } from '../../components/table/data-table.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type DayRow, daysOf } from '../../lib/resources/bill.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

const colors = [...seriesColors, restColor]

export function BillDays({
  account,
  month,
  currency,
}: {
  account: string
  month: string
  currency: string
}) {
  const t = useMessages(messages)
  const { data, error, isLoading } = useResource<{ breakdown: DayRow[] }>('/bills', {
    query: { account, month, by: 'day' },
  })
  if (isLoading) return <Skeleton height={180} />
  const rows = data?.breakdown ?? []
  if (rows.length === 0) {
    return error === null ? <Text c="dimmed">{t('no_charges')}</Text> : <ErrorAlert error={error} />
  }
  return (
    <>
      <DayBars rows={rows} month={month} currency={currency} />
      <DayTable rows={rows} currency={currency} />
    </>
  )
}

/** Numbers for drawing only. */
function DayBars({
  rows,
  month,
  currency,
}: {
  rows: readonly DayRow[]
  month: string
  currency: string
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const days = daysOf(month)
  const sums = new Map<string, number>()
  for (const { model, amount } of rows) {
    sums.set(model ?? '–', (sums.get(model ?? '–') ?? 0) + Number(amount))
  }
  const ranked = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = ranked.slice(0, colors.length - 1)
  const names = ranked.length > shown.length ? [...shown, '…'] : shown
  const series = names.map((name, i) => ({
    name,
    color: colors[i]!,
    values: days.map((day) =>
      rows
        .filter((row) => row.day === day && nameIn(shown, row.model) === name)
        .reduce((sum, { amount }) => sum + Number(amount), 0),
    ),
  }))
  return (
    <Card withBorder mb="md">
      <Chart
        label={`${t('by_day')} ${format.utcMonth(month)}`}
        by="day"
        moments={days.map((day) => Date.parse(day))}
        series={series}
        format={(value) => format.drawn(value, currency)}
        axis={(value) => format.amountTick(value, currency)}
      />
    </Card>
  )
}

const nameIn = (shown: readonly string[], model: string | null): string =>
  shown.includes(model ?? '–') ? (model ?? '–') : '…'

function DayTable({ rows, currency }: { rows: readonly DayRow[]; currency: string }) {
  const server = useServerText()
  const t = useMessages(messages)
  const format = useFormat()
  const ordered = [...rows].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  return (
    <SimpleTable
      label={t('by_day')}
      minWidth={480}
      rows={ordered}
      rowKey={({ day, model, unit }) => `${day} ${model} ${unit}`}
      columns={[
        { title: `${t('time')} (UTC)`, cell: ({ day }) => format.utcDay(day) },
        { title: t('model'), cell: ({ model }) => model },
        { title: t('unit'), cell: ({ unit }) => server.text('unit', unit ?? '') },
        { title: t('count'), align: 'right', cell: ({ charges }) => format.number(charges) },
        {
          title: withUnit(t('amount'), currency),
          align: 'right',
          cell: ({ amount }) => <Money amount={amount} currency={currency} isBare />,
        },
      ]}
    />
  )
}
