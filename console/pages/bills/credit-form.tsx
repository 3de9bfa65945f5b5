// A credit or adjustment by hand, with its reason.
import { Modal, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'

export interface CreditDraft {
  amount: string
  note: string
}

/** A new key for a new draft: what was typed goes with the old one. */
export function CreditForm({
  account,
  draft = { amount: '', note: '' },
  isOpen,
  onClose,
  onDone,
}: {
  account: string
  draft?: CreditDraft | undefined
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [amount, setAmount] = useState(draft.amount)
  const [note, setNote] = useState(draft.note)
  const submit = async () => {
    const path = `/accounts/${encodeURIComponent(account)}/credits`
    await api('POST', path, { body: { amount, note } })
    setAmount(draft.amount)
    setNote(draft.note)
    onDone()
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('new_credit')}>
      <ActionForm submit={t('book')} onSubmit={submit} onCancel={onClose}>
        <Text size="sm">{t('credit_hint')}</Text>
        <TextInput
          label={t('amount')}
          required
          data-autofocus
          inputMode="decimal"
          placeholder="10.00"
          value={amount}
          onChange={(event) => setAmount(event.currentTarget.value)}
        />
        <TextInput
          label={t('note')}
          required
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </ActionForm>
    </Modal>
  )
}
