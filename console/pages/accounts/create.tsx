// A new account: its name, its first credit, its budget and the threshold of its balance.
import { Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { BudgetFields, budgetFrom, draftOf } from '../../components/billing/budget.tsx'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useMessages } from '../../lib/messages.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

export function CreateAccount({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (name: string) => void
}) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const wrong = useFieldError()
  const [name, setName] = useState('')
  const [displayName, setDisplayName] = useState('')
  const [balance, setBalance] = useState('')
  const [threshold, setThreshold] = useState('')
  const [budget, setBudget] = useState(() => draftOf(null))
  const submit = async () => {
    const set = budgetFrom(budget)
    const made = await api<{ name: string }>('POST', '/accounts', {
      body: {
        name: name.trim(),
        ...(displayName.trim() !== '' && { display_name: displayName.trim() }),
        ...(balance.trim() !== '' && { balance: balance.trim() }),
        ...(threshold.trim() !== '' && { balance_low: threshold.trim() }),
        ...(set !== null && { budget: set }),
      },
    })
    onDone(made.name)
  }
  return (
    <Modal opened onClose={onClose} title={t('new_account')} size="lg" closeOnClickOutside={false}>
      <ActionForm submit={t('create')} onSubmit={submit} onCancel={onClose}>
        <TextInput
          label={t('name')}
          description={t('name_hint')}
          required
          data-autofocus
          autoComplete="off"
          value={name}
          error={wrong('name', name)}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={t('display_name')}
          description={t('display_name_hint')}
          maxLength={120}
          autoComplete="off"
          value={displayName}
          onChange={(event) => setDisplayName(event.currentTarget.value)}
        />
        <TextInput
          label={`${t('opening')} (${currency})`}
          description={t('opening_hint')}
          inputMode="decimal"
          placeholder="100.00"
          value={balance}
          error={wrong('amount', balance)}
          onChange={(event) => setBalance(event.currentTarget.value)}
        />
        <BudgetFields draft={budget} onChange={setBudget} />
        <TextInput
          label={`${t('balance_low')} (${currency})`}
          description={t('balance_low_hint')}
          inputMode="decimal"
          value={threshold}
          error={wrong('amount', threshold)}
          onChange={(event) => setThreshold(event.currentTarget.value)}
        />
      </ActionForm>
    </Modal>
  )
}
