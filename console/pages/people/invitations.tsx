// Links that have not been used yet, and how to revoke one.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Invitation } from '../../../src/admin/invitations/invitation-schema.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Panel } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
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
  const [leaving, setLeaving] = useState<Invitation>()
  const pending = rows.filter(({ state }) => state === 'pending')
  const subject = ({ kind, person, email }: Invitation) =>
    kind === 'password' ? t('new_password', { name: person ?? '–' }) : (email ?? t('anyone'))
  if (pending.length === 0) return null
  return (
    <Panel title={t('invitations')}>
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
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                onClick={() => setLeaving(row)}
              >
                {t('revoke')}
              </Button>
            ),
          },
        ]}
      />
      <Confirm
        title={t('revoke_title')}
        text={t('revoke_text')}
        action={t('revoke_title')}
        keep={t('keep_invitation')}
        isFinal
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        onConfirm={async () => {
          await api('DELETE', `/invitations/${leaving!.id}`)
          onDone()
        }}
      />
    </Panel>
  )
}
