// What was sent to a subscription, newest first, with every attempt.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { NoticeDelivery } from '../../../src/admin/notices/webhook-schema.ts'
import { CopyId } from '../../components/copy.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { State, Time } from '../../components/values.tsx'
import type { List } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

const stateColors = { pending: 'queued', delivered: 'good', failed: 'failed' } as const

export function Deliveries({ list }: { list: List<NoticeDelivery> }) {
  const t = useMessages(messages)
  const server = useServerText()
  if (list.rows.length === 0) {
    return list.error === null ? (
      <Text size="sm" c="dimmed">
        {list.isLoading ? '…' : t('no_deliveries')}
      </Text>
    ) : (
      <ErrorAlert error={list.error} />
    )
  }
  return (
    <Stack gap="xs">
      <SimpleTable
        label={t('deliveries')}
        minWidth={480}
        rows={list.rows}
        rowKey={({ id }) => id}
        columns={[
          { title: t('time'), cell: ({ at }) => <Time at={at} how="short" /> },
          {
            title: t('notice'),
            cell: ({ id, type }) => (
              <>
                {server.text('notice', type)}
                <br />
                <CopyId id={id} max={18} />
              </>
            ),
          },
          {
            title: t('state'),
            cell: ({ state }) => <State state={stateColors[state]} label={t(state)} />,
          },
          { title: t('attempts'), cell: (delivery) => <Attempts delivery={delivery} /> },
        ]}
      />
      {list.hasMore && (
        <Group justify="center">
          <Button variant="default" size="xs" loading={list.isLoadingMore} onClick={list.loadMore}>
            {t('more')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Attempts({ delivery }: { delivery: NoticeDelivery }) {
  const t = useMessages(messages)
  return (
    <Stack gap={2}>
      {delivery.attempts.map(({ at, status, error }) => (
        <Text key={at} size="xs" style={{ overflowWrap: 'anywhere' }}>
          <Time at={at} how="clock" />{' '}
          {[status !== undefined && t('answered', { status }), error]
            .filter((part) => typeof part === 'string')
            .join(': ')}
        </Text>
      ))}
      {delivery.next_at !== null && (
        <Text size="xs" c="dimmed">
          {t('next')}: <Time at={delivery.next_at} how="short" />
        </Text>
      )}
    </Stack>
  )
}
