// How long the requests in the list took, each a dot: time to the right, duration upwards by powers of
// ten. A dot opens its request.
import { Text } from '@mantine/core'
import { useState } from 'react'
import { LazyPlot } from '../../components/charts/lazy-plot.tsx'
import { gutterPx } from '../../components/charts/plot-layout.ts'
import { TableToggle } from '../../components/charts/table-toggle.tsx'
import { TipBox } from '../../components/charts/tip-box.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { HttpStatus, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { LoggedRequest } from '../../lib/resources/request.ts'
import { statusColors } from './histogram-bars.tsx'
import { messages } from './messages.ts'

const heightPx = 200
/** More dots than this are a blot. */
const maxDots = 1_000
const kinds = ['ok', 'client', 'server'] as const

const kindOf = ({ status }: LoggedRequest): (typeof kinds)[number] =>
  status < 400 ? 'ok' : status < 500 ? 'client' : 'server'

export function LatencyScatter({
  rows,
  onOpen,
}: {
  rows: readonly LoggedRequest[]
  onOpen: (id: string) => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const [at, setAt] = useState<{ index: number; leftPx: number }>()
  const dots = rows.slice(0, maxDots).reverse()
  if (dots.length === 0) return null
  const names = { ok: t('ok'), client: t('client_error'), server: t('server_error') }
  const row = dots[at?.index ?? -1]
  return (
    <figure style={{ margin: 0 }}>
      <div style={{ position: 'relative', cursor: 'pointer' }} role="img" aria-label={t('scatter')}>
        <LazyPlot
          kind="dots"
          xs={dots.map((each) => Date.parse(each.at) / 1000)}
          series={kinds.map((kind) => ({
            name: names[kind],
            color: statusColors[kind],
            values: dots.map((each) => (kindOf(each) === kind ? Math.max(each.total_ms, 1) : null)),
          }))}
          heightPx={heightPx}
          zone={format.zone}
          isLog
          axes={{
            x: (seconds, step) => format.tick(seconds * 1000, format.zone, step),
            y: format.span,
          }}
          onCursor={(index, leftPx) => setAt(index === null ? undefined : { index, leftPx })}
          onPick={(index) => dots[index] && onOpen(dots[index].request_id)}
        />
        {row !== undefined && (
          <TipBox
            leftPx={(at?.leftPx ?? 0) + gutterPx.left}
            title={`${format.stamp(row.at)} · ${row.model}`}
            rows={[
              { name: String(row.status), color: statusColors[kindOf(row)], value: row.total_ms },
            ]}
            format={format.ms}
            totalName={undefined}
          />
        )}
      </div>
      <TableToggle table={() => <DotTable rows={dots.toReversed()} />} />
      <Text size="xs" c="dimmed">
        {t('scatter_hint', { n: format.number(dots.length) })}
      </Text>
    </figure>
  )
}

/** Newest first, as the list below. */
function DotTable({ rows }: { rows: readonly LoggedRequest[] }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <SimpleTable
      label={t('scatter')}
      maxHeight="300px"
      rows={rows}
      rowKey={({ request_id }) => request_id}
      columns={[
        { title: t('time'), cell: ({ at }) => <Time at={at} how="short" /> },
        { title: t('model'), cell: ({ model }) => model },
        { title: t('status'), cell: ({ status }) => <HttpStatus status={status} /> },
        { title: t('total'), align: 'right', cell: ({ total_ms }) => format.ms(total_ms) },
      ]}
    />
  )
}
