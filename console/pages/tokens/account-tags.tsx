// Which tags the calls of an account may carry, and how its end users are kept.
import { Modal, Select, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Account } from '../../lib/resources/token.ts'
import { useAccounts } from './form.tsx'
import { messages } from './messages.ts'

const modes = ['hashed', 'plain', 'off'] as const

export function AccountTags({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(messages)
  const accounts = useAccounts()
  const [name, setName] = useState<string | null>(null)
  const all = accounts.data?.items ?? []
  const account = all.find((each) => each.name === name)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('account_tags')}>
      <Select
        label={t('account')}
        searchable
        mb="md"
        data={all.map((each) => each.name)}
        value={name}
        onChange={setName}
      />
      {account !== undefined && (
        <TagSettings
          key={account.name}
          account={account}
          onCancel={onClose}
          onDone={() => {
            void accounts.refetch()
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

function TagSettings({
  account,
  onCancel,
  onDone,
}: {
  account: Account
  onCancel: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [names, setNames] = useState([...account.tag_names])
  const [mode, setMode] = useState<Account['end_users']>(account.end_users)
  const submit = async () => {
    const body = {
      ...(names.join() !== account.tag_names.join() && { tag_names: names }),
      ...(mode !== account.end_users && { end_users: mode }),
    }
    await api('PATCH', `/accounts/${encodeURIComponent(account.name)}`, { body })
    onDone()
  }
  return (
    <ActionForm submit={t('save')} onSubmit={submit} onCancel={onCancel}>
      <TagsInput
        label={t('tag_names')}
        description={t('tag_names_hint')}
        placeholder="team"
        value={names}
        onChange={setNames}
      />
      <Select
        label={t('end_users')}
        description={t('end_users_hint')}
        allowDeselect={false}
        data={modes.map((value) => ({ value, label: t(`end_users_${value}`) }))}
        value={mode}
        onChange={(next) => setMode((next ?? 'hashed') as Account['end_users'])}
      />
    </ActionForm>
  )
}
