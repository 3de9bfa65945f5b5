// The budget of an account: what is spent, held and left of it and of its tags, and a form to change it.
import { Modal, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useResource } from '../../lib/use-resource.ts'
import { BudgetFields, BudgetFigures, budgetFrom, draftOf } from './budget.tsx'
import { messages } from './messages.ts'

export function AccountBudget({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useMessages(messages)
  const accounts = useResource<Page<Account>>('/accounts', {
    query: { limit: 500 },
    enabled: isOpen,
  })
  const [name, setName] = useState<string | null>(null)
  const all = accounts.data?.items ?? []
  const account = all.find((each) => each.name === name)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('account_budget')} size="lg">
      <Stack>
        <Select
          label={t('account')}
          searchable
          data={all.map((each) => each.name)}
          value={name}
          onChange={setName}
        />
        {account?.budget && <BudgetFigures budget={account.budget} />}
        {account?.tag_budgets.map(({ tag, ...budget }) => (
          <BudgetFigures key={tag} name={tag} budget={budget} />
        ))}
        {account !== undefined && (
          <BudgetForm
            key={account.name}
            account={account}
            onCancel={onClose}
            onDone={() => void accounts.refetch()}
          />
        )}
      </Stack>
    </Modal>
  )
}

function BudgetForm({
  account,
  onCancel,
  onDone,
}: {
  account: Account
  onCancel: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [draft, setDraft] = useState(() => draftOf(account.budget))
  const submit = async () => {
    const body = { budget: budgetFrom(draft) }
    await api('PATCH', `/accounts/${encodeURIComponent(account.name)}`, { body })
    onDone()
  }
  return (
    <ActionForm submit={t('save')} onSubmit={submit} onCancel={onCancel}>
      <BudgetFields draft={draft} onChange={setDraft} />
    </ActionForm>
  )
}
