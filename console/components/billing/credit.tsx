// Money added to an account, or taken back, with its reason. The form names the bill that it lands on,
// and stays to say what was booked, so that a credit is not booked twice by mistake.
import { Alert, Button, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { ActionForm } from '../action-form.tsx'
import { creditMessages as messages } from './credit-messages.ts'
import { useIdempotencyKey } from './use-idempotency-key.ts'

const ways = ['add_credit', 'take_back'] as const

export interface CreditDraft {
  amount: string
  note: string
}

interface Booked {
  account: string
  amount: string
  month: string
  balance: string
}

export function Credit({
  account,
  draft,
  onClose,
  onDone,
}: {
  account: string
  /** What the fields have first. */
  draft?: CreditDraft
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const [booked, setBooked] = useState<Booked>()
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${t('credit')} · ${account}`}
      closeOnClickOutside={false}
    >
      {booked === undefined ? (
        <CreditForm
          account={account}
          draft={draft ?? { amount: '', note: '' }}
          onClose={onClose}
          onBooked={(made) => {
            setBooked(made)
            onDone()
          }}
        />
      ) : (
        <BookedText booked={booked} onClose={onClose} />
      )}
    </Modal>
  )
}

function CreditForm({
  account,
  draft,
  onClose,
  onBooked,
}: {
  account: string
  draft: CreditDraft
  onClose: () => void
  onBooked: (booked: Booked) => void
}) {
  const t = useMessages(messages)
  const wrong = useFieldError()
  const { currency } = useSession()
  const [way, setWay] = useState<(typeof ways)[number]>('add_credit')
  const [amount, setAmount] = useState(draft.amount)
  const [note, setNote] = useState(draft.note)
  const key = useIdempotencyKey()
  const submit = async () => {
    const signed = way === 'take_back' ? `-${amount.trim()}` : amount.trim()
    const body = { amount: signed, note }
    const month = thisMonth()
    const path = `/accounts/${encodeURIComponent(account)}/credits`
    const idempotencyKey = key.of(JSON.stringify(body))
    const { balance } = await api<Account>('POST', path, { body, idempotencyKey })
    onBooked({ account, amount: signed, month, balance })
  }
  return (
    <ActionForm submit={t(way)} onSubmit={submit} onCancel={onClose}>
      <SegmentedControl
        aria-label={t('credit')}
        data={ways.map((value) => ({ value, label: t(value) }))}
        value={way}
        onChange={(value) => setWay(value as typeof way)}
      />
      <TextInput
        label={`${t('amount')} (${currency})`}
        required
        data-autofocus
        inputMode="decimal"
        placeholder="10.00"
        value={amount}
        error={wrong('amount', amount)}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <TextInput
        label={t('note')}
        description={t('note_hint')}
        required
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Text size="sm">{t('lands_in', { month: thisMonth() })}</Text>
    </ActionForm>
  )
}

function BookedText({ booked, onClose }: { booked: Booked; onClose: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  return (
    <Stack>
      <Alert color="teal" role="status">
        {t('booked', {
          amount: format.money(booked.amount, currency),
          month: booked.month,
          balance: format.money(booked.balance, currency),
        })}
      </Alert>
      <Link
        to={`/bills?open=${encodeURIComponent(`${booked.month} ${booked.account}`)}`}
        onClick={onClose}
      >
        {t('bill_of', { month: booked.month })}
      </Link>
      <Button onClick={onClose}>{t('done')}</Button>
    </Stack>
  )
}
