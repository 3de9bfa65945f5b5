// Gives a charge back, or a part of it, with its reason. The button is for administrators and finance; the
// form says what was charged and refunded before, and stays to say what was booked.
import { Alert, Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { isLess, less } from '../../lib/format/money.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { useFlag } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { ActionForm } from '../action-form.tsx'
import { PropertyList } from '../drawer.tsx'
import { refundMessages as messages } from './refund-messages.ts'
import { useIdempotencyKey } from './use-idempotency-key.ts'

interface Charged {
  /** Of the request or the task in the admin API. */
  path: string
  charge: string
  refunded: string
}

/** Whether its form is open, as the address has it; only for those who may, and of what is there. */
export function useRefunding(isThere: boolean): [boolean, (isOpen: boolean) => void] {
  const mayRefund = hasRole(useSession(), ['finance'])
  const [isAsked, setAsked] = useFlag('refund')
  return [isAsked && mayRefund && isThere, setAsked]
}

interface Booked {
  amount: string
  refunded: string
}

/** Whether its form is open is known to the drawer around it, which keeps Esc for the form. */
export function RefundButton({
  isOpen,
  setOpen,
  ...props
}: Charged & { isOpen: boolean; setOpen: (isOpen: boolean) => void }) {
  const t = useMessages(messages)
  const mayRefund = hasRole(useSession(), ['finance'])
  const isLeft = isLess(props.refunded, props.charge)
  if (!mayRefund || (!isLeft && !isOpen)) return null
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('refund')}
      </Button>
      {isOpen && <RefundDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function RefundDialog({ onClose, ...charged }: Charged & { onClose: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const [booked, setBooked] = useState<Booked>()
  return (
    <Modal opened onClose={onClose} title={t('refund')} closeOnClickOutside={false}>
      {booked === undefined ? (
        <RefundForm {...charged} onClose={onClose} onBooked={setBooked} />
      ) : (
        <Stack>
          <Alert color="teal" role="status">
            {t('done_text', {
              amount: format.exact(booked.amount, currency),
              refunded: format.exact(booked.refunded, currency),
            })}
          </Alert>
          <Button data-autofocus onClick={onClose}>
            {t('done')}
          </Button>
        </Stack>
      )}
    </Modal>
  )
}

function RefundForm({
  path,
  charge,
  refunded,
  onClose,
  onBooked,
}: Charged & { onClose: () => void; onBooked: (booked: Booked) => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const wrong = useFieldError()
  const { currency } = useSession()
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const key = useIdempotencyKey()
  const queryClient = useQueryClient()
  const exact = (of: string) => format.exact(of, currency)
  const leftAmount = less(charge, refunded)
  const left = exact(leftAmount)
  const asked = amount.trim()
  const problem =
    wrong('amount', asked) ?? (isLess(leftAmount, asked) ? t('too_much', { left }) : undefined)
  const submit = async () => {
    const body = { ...(asked !== '' && { amount: asked }), reason }
    const idempotencyKey = key.of(JSON.stringify(body))
    try {
      onBooked(await api<Booked>('POST', `${path}/refunds`, { body, idempotencyKey }))
    } finally {
      // Also when it is refused: another person may have been first.
      void queryClient.invalidateQueries()
    }
  }
  return (
    <ActionForm submit={t('refund')} onSubmit={submit} onCancel={onClose}>
      <PropertyList
        rows={[
          [t('charged'), exact(charge)],
          [t('refunded'), exact(refunded)],
          [t('left'), left],
        ]}
      />
      <TextInput
        label={`${t('amount')} (${currency})`}
        description={t('amount_hint', { left })}
        data-autofocus
        inputMode="decimal"
        value={amount}
        error={problem}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <TextInput
        label={t('reason')}
        description={t('reason_hint')}
        required
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Text size="sm">{t('lands_in', { month: thisMonth() })}</Text>
    </ActionForm>
  )
}
