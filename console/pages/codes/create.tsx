// New codes: the form, then the codes, this once, to be copied or downloaded.
import {
  Alert,
  Button,
  Code,
  CopyButton,
  Group,
  Modal,
  NumberInput,
  Stack,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { api } from '../../lib/api.ts'
import { downloadText } from '../../lib/download.ts'
import { useFieldError } from '../../lib/field-errors.ts'
import { fromWallClock, useTimeZone, zoneText } from '../../lib/format/time-zone.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

interface NewCode {
  id: string
  code: string
}

interface Made {
  amount: string
  items: readonly NewCode[]
}

const maxCodes = 1_000

export function CreateCodes({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const t = useMessages(messages)
  const [made, setMade] = useState<Made>()
  const isShown = made !== undefined
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('new_codes')}
      closeOnClickOutside={false}
      // What is shown once leaves by its button alone.
      closeOnEscape={!isShown}
      withCloseButton={!isShown}
    >
      {made === undefined ? (
        <CodesForm
          onCancel={onClose}
          onMade={(codes) => {
            setMade(codes)
            onDone()
          }}
        />
      ) : (
        <MadeCodes made={made} onDone={onClose} />
      )}
    </Modal>
  )
}

function CodesForm({ onCancel, onMade }: { onCancel: () => void; onMade: (made: Made) => void }) {
  const t = useMessages(messages)
  const wrong = useFieldError()
  const { currency } = useSession()
  const [zone] = useTimeZone()
  const [amount, setAmount] = useState('')
  const [count, setCount] = useState<number | string>(1)
  const [expires, setExpires] = useState('')
  const [note, setNote] = useState('')
  const submit = async () => {
    const body = {
      amount: amount.trim(),
      ...(count !== '' && { count: Number(count) }),
      ...(expires !== '' && { expires_at: fromWallClock(expires, zone) }),
      ...(note.trim() !== '' && { note: note.trim() }),
    }
    const { items } = await api<{ items: NewCode[] }>('POST', '/codes', { body })
    onMade({ amount: body.amount, items })
  }
  return (
    <ActionForm submit={t('make')} onSubmit={submit} onCancel={onCancel}>
      <TextInput
        label={`${t('amount')} (${currency})`}
        required
        data-autofocus
        inputMode="decimal"
        placeholder="20.00"
        value={amount}
        error={wrong('amount', amount)}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <NumberInput
        label={t('count')}
        description={t('count_hint')}
        min={1}
        max={maxCodes}
        allowDecimal={false}
        value={count}
        onChange={setCount}
      />
      <TextInput
        label={`${t('expires')} · ${zoneText(zone)}`}
        type="datetime-local"
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TextInput
        label={t('note')}
        description={t('note_hint')}
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </ActionForm>
  )
}

function MadeCodes({ made: { amount, items }, onDone }: { made: Made; onDone: () => void }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const text = items.map(({ code }) => code).join('\n')
  const save = () => {
    const rows = items.map(({ id, code }) => [id, code, amount, currency].join(','))
    const csv = ['id,code,amount,currency', ...rows].join('\r\n')
    downloadText('codes.csv', `\uFEFF${csv}\r\n`, 'text/csv')
  }
  return (
    <Stack>
      <Alert color="yellow" role="status">
        {t('made')}
      </Alert>
      <Code
        block
        tabIndex={0}
        aria-label={t('codes')}
        className={privateClass}
        mah={320}
        style={{ overflow: 'auto' }}
      >
        {text}
      </Code>
      <Group justify="flex-end">
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {t(copied ? 'copied' : 'copy_all')}
            </Button>
          )}
        </CopyButton>
        <Button variant="default" onClick={save}>
          {t('download')}
        </Button>
        <Button onClick={onDone}>{t('saved')}</Button>
      </Group>
    </Stack>
  )
}
