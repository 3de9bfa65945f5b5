// The values of a chart as a table, newest first.
import { useMessages } from '../../lib/messages.ts'
import { SimpleTable } from '../table/simple-table.tsx'
import { messages } from './messages.ts'
import type { Series } from './series.ts'

export function ValueTable({
  label,
  moments,
  series,
  format,
  name,
}: {
  label: string
  moments: readonly number[]
  series: readonly Series[]
  format: (value: number) => string
  name: (ms: number) => string
}) {
  const t = useMessages(messages)
  const places = moments.map((_, i) => i).reverse()
  return (
    <SimpleTable
      label={label}
      maxHeight="300px"
      minWidth={120 + 90 * series.length}
      rows={places}
      rowKey={String}
      columns={[
        { title: t('time'), cell: (i) => name(moments[i]!) },
        ...series.map((each) => ({
          title: each.name,
          align: 'right' as const,
          cell: (i: number) => {
            const value = each.values[i]
            return value === null || value === undefined ? '–' : format(value)
          },
        })),
      ]}
    />
  )
}
