// Links to a bill for people who do not sign in: a new one, for how long, and those that work.
import { Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { NewBillLink } from '../../../src/admin/closing/closing-schema.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { CopyBlock } from '../../components/copy.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import { BillLinks, useLinksChanged } from './links.tsx'
import { messages } from './messages.ts'

const choices = ['7', '30', '90']

export function ShareBill({
  account,
  month,
  isOpen,
  onClose,
}: {
  account: string
  month: string
  isOpen: boolean
  onClose: () => void
}) {
  const t = useMessages(messages)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('share')} size="lg">
      {isOpen && (
        <Stack>
          <Share account={account} month={month} onClose={onClose} />
          <BillLinks account={account} month={month} />
        </Stack>
      )}
    </Modal>
  )
}

function Share({
  account,
  month,
  onClose,
}: {
  account: string
  month: string
  onClose: () => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const lang = useLanguage()
  const session = useSession()
  const [days, setDays] = useState('30')
  const [email, setEmail] = useState('')
  const [link, setLink] = useState<NewBillLink>()
  const onChanged = useLinksChanged()
  const make = async () => {
    const query = { account, month, lang, days, email }
    setLink(await api<NewBillLink>('POST', '/bills/link', { query }))
    onChanged()
  }
  if (link === undefined) {
    return (
      <ActionForm submit={t('make_link')} onSubmit={make} onCancel={onClose}>
        <Text size="sm">{t('share_text')}</Text>
        <Select
          label={t('share_days')}
          allowDeselect={false}
          data={choices.map((value) => ({ value, label: t('days', { n: value }) }))}
          value={days}
          onChange={(value) => setDays(value ?? '30')}
        />
        {isStaff(session) && (
          <TextInput
            label={t('share_email')}
            type="email"
            placeholder="books@acme.example"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value.trim())}
          />
        )}
      </ActionForm>
    )
  }
  return (
    <Stack>
      <CopyBlock text={link.url} label={t('share')} />
      <Text size="sm" c="dimmed">
        {t('share_until', { when: format.time(link.expires_at) })}{' '}
        {link.emailed_to !== null && t('emailed', { email: link.emailed_to })}
      </Text>
    </Stack>
  )
}
