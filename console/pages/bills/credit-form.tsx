// A credit or adjustment by hand, with its reason.
import { Alert, Modal, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { useIdempotencyKey } from '../../components/billing/use-idempotency-key.ts'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { Link } from '../../lib/router.tsx'
import { messages } from './messages.ts'

export interface CreditDraft {
  amount: string
  note: string
}

/** A new key for a new draft: what was typed goes with the old one. */
export function CreditForm({
  account,
  month,
  draft = { amount: '', note: '' },
  isOpen,
  onClose,
  onDone,
}: {
  account: string
  /** Of the bill that is open; a credit is booked now, whatever bill it is about. */
  month?: string
  draft?: CreditDraft | undefined
  isOpen: boolean
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [amount, setAmount] = useState(draft.amount)
  const [note, setNote] = useState(draft.note)
  const key = useIdempotencyKey()
  const submit = async () => {
    const path = `/accounts/${encodeURIComponent(account)}/credits`
    const body = { amount, note }
    await api('POST', path, { body, idempotencyKey: key.of(JSON.stringify(body)) })
    key.done()
    setAmount(draft.amount)
    setNote(draft.note)
    onDone()
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('new_credit')}>
      <ActionForm submit={t('book')} onSubmit={submit} onCancel={onClose}>
        <Text size="sm">{t('credit_hint')}</Text>
        {month !== undefined && month !== thisMonth() && (
          <Alert color="yellow">{t('credit_lands', { month, now: thisMonth() })}</Alert>
        )}
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

/** Where the credit has gone: the bill of this month, whatever bill is open. */
export function Credited({ account }: { account: string }) {
  const t = useMessages(messages)
  const open = encodeURIComponent(`${thisMonth()} ${account}`)
  return (
    <Text size="sm" role="status">
      <Link to={`/bills?open=${open}`}>{t('credited', { month: thisMonth() })}</Link>
    </Text>
  )
}
