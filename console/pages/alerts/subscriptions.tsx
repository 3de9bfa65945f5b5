// Who is notified: the list of subscriptions, the form of a new one, and the open one in a drawer.
import { Button, Modal, Text } from '@mantine/core'
import { useState } from 'react'
import type { Webhook } from '../../../src/admin/notices/webhook-schema.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { type Column, column } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { State, Time } from '../../components/values.tsx'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'
import { OneTimeSecret } from './secret.tsx'
import { SubscriptionDrawer } from './subscription-drawer.tsx'
import { SubscriptionForm } from './subscription-form.tsx'

export function Subscriptions() {
  const t = useMessages(messages)
  const list = useList<Webhook>('/webhooks')
  const [opened, setOpened] = useQueryValue('open')
  const [isAdding, setAdding] = useState(false)
  const columns = useColumns()
  const add = (
    <Button size="xs" onClick={() => setAdding(true)}>
      {t('new_subscription')}
    </Button>
  )
  return (
    <>
      <ListTable
        label={t('subscriptions')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        tools={list.rows.length > 0 && add}
        empty={
          <EmptyState icon="alerts" text={t('no_subscriptions')}>
            {add}
          </EmptyState>
        }
      />
      {isAdding && <NewSubscription onClose={() => setAdding(false)} onDone={list.refetch} />}
      <SubscriptionDrawer
        webhook={list.rows.find(({ id }) => id === opened)}
        onClose={() => setOpened(undefined)}
        onChanged={list.refetch}
      />
    </>
  )
}

function useColumns(): Column<Webhook>[] {
  const t = useMessages(messages)
  const server = useServerText()
  return [
    column(
      t('receiver'),
      'minmax(180px, 2fr)',
      ({ url, email }) => (
        <Text size="sm" fw={600} truncate title={url ?? email ?? ''}>
          {url ?? email}
        </Text>
      ),
      { isPrivate: true },
    ),
    column(t('events'), 'minmax(200px, 3fr)', ({ events }) => {
      const names = events.map((type) => server.text('notice', type)).join(', ')
      return (
        <Text size="sm" truncate title={names}>
          {names}
        </Text>
      )
    }),
    column(t('state'), '110px', ({ disabled }) => (
      <State state={disabled ? 'cancelled' : 'good'} label={t(disabled ? 'disabled' : 'enabled')} />
    )),
    column(t('source'), '120px', ({ source }) => server.text('source', source)),
    column(t('created'), '150px', ({ created_at }) => <Time at={created_at} how="short" />),
  ]
}

/** The form, then the secret, once. E-mail has none. */
function NewSubscription({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const t = useMessages(messages)
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined) return <OneTimeSecret secret={secret} onDone={onClose} />
  return (
    <Modal opened onClose={onClose} title={t('new_subscription')} size="xl">
      <SubscriptionForm
        onCancel={onClose}
        onDone={(made) => {
          onDone()
          if (made.secret === undefined) onClose()
          else setSecret(made.secret)
        }}
      />
    </Modal>
  )
}
