// Alerts that were resolved, newest first, and by whom.
import { Text } from '@mantine/core'
import type { Alert } from '../../../src/admin/system/system-schema.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { type Column, column, numberColumn } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

export function AlertHistory() {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const list = useList<Alert>('/alerts', { resolved: true })
  const columns: Column<Alert>[] = [
    column(t('alert'), '150px', ({ kind }) => server.text('alert', kind)),
    column(t('message'), 'minmax(200px, 2fr)', ({ message }) => (
      <Text size="sm" truncate title={message}>
        {server.sentence(message)}
      </Text>
    )),
    column(t('since_time'), '150px', ({ since }) => <Time at={since} how="short" />),
    numberColumn(t('times'), '80px', ({ times }) => format.number(times)),
    column(t('resolved'), '150px', ({ resolved_at }) => <Time at={resolved_at} how="short" />),
    column(t('resolved_by'), '200px', ({ resolved_by }) => resolved_by ?? t('by_gateway'), {
      isPrivate: true,
    }),
  ]
  return (
    <ListTable
      label={t('history')}
      list={list}
      columns={columns}
      rowKey={({ id }) => id}
      isFlat
      empty={<EmptyState icon="alerts" text={t('no_history')} />}
    />
  )
}
