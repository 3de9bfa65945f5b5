// Money in or out by hand, with the reason written down.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import { words } from './words.ts'

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
  const say = useWords(words)
  const shared = useWords(common)
  const [amount, setAmount] = useState(draft.amount)
  const [note, setNote] = useState(draft.note)
  const [error, setError] = useState<Error>()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setError(undefined)
    try {
      const path = `/accounts/${encodeURIComponent(account)}/credits`
      await ask('POST', path, { body: { amount, note } })
      setAmount(draft.amount)
      setNote(draft.note)
      onDone()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={say('new_credit')}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{say('credit_hint')}</Text>
          <TextInput
            label={say('amount')}
            required
            data-autofocus
            inputMode="decimal"
            placeholder="10.00"
            value={amount}
            onChange={(event) => setAmount(event.currentTarget.value)}
          />
          <TextInput
            label={say('note')}
            required
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <ErrorNote error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {shared('cancel')}
            </Button>
            <Button type="submit">{say('book')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
