// Links that have not been used yet, and how to revoke one.
import { Button } from '@mantine/core'
import type { Invitation } from '../../../src/admin/invitations/invitation-schema.ts'
import { ErrorAlert, Panel } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

export function Invitations({
  rows,
  onDone,
}: {
  rows: readonly Invitation[]
  /** The list has changed. */
  onDone: () => void
}) {
  const t = useMessages(messages)
  const server = useServerText()
  const { error, run } = useAction()
  const pending = rows.filter(({ state }) => state === 'pending')
  const revoke = ({ id }: Invitation) =>
    run(async () => {
      await api('DELETE', `/invitations/${id}`)
      onDone()
    })
  const subject = ({ kind, person, email }: Invitation) =>
    kind === 'password' ? t('new_password', { name: person ?? '–' }) : (email ?? t('anyone'))
  if (pending.length === 0) return null
  return (
    <Panel title={t('invitations')}>
      <ErrorAlert error={error} />
      <SimpleTable
        label={t('invitations')}
        minWidth={640}
        rows={pending}
        rowKey={({ id }) => id}
        columns={[
          { title: t('for'), isPrivate: true, cell: subject },
          { title: t('role'), cell: ({ role }) => server.text('role', role) },
          { title: t('account'), cell: ({ account }) => account ?? '–' },
          { title: t('invited_by'), isPrivate: true, cell: ({ created_by }) => created_by },
          { title: t('expires'), cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            title: '',
            align: 'right',
            cell: (row) => (
              <Button variant="subtle" color="red" size="compact-sm" onClick={() => revoke(row)}>
                {t('revoke')}
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  )
}
