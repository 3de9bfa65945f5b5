// Sends the closed bills of a month to their accounts: how far it is, what failed and why, and who has no address.
import { Alert, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import type { BillMails, SentMonth } from '../../../src/admin/closing/closing-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { api } from '../../lib/api.ts'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

interface Props {
  month: string
  isOpen: boolean
  onChanged: () => void
  onClose: () => void
}

export function SendAll({ isOpen, ...props }: Props) {
  const t = useMessages(messages)
  return (
    <Modal
      opened={isOpen}
      onClose={props.onClose}
      title={t('send_all_of', { month: props.month })}
      size="lg"
      closeOnClickOutside={false}
    >
      {isOpen && <Sending {...props} />}
    </Modal>
  )
}

function Sending({ month, onChanged, onClose }: Omit<Props, 'isOpen'>) {
  const t = useMessages(messages)
  const lang = useLanguage()
  const mails = useResource<BillMails>('/bills/mails', { query: { month }, gcTime: 0 })
  const { error, isBusy, run } = useAction()
  const send = () =>
    run(async () => {
      let cursor: string | null = null
      do {
        const body = { month, lang, ...(cursor !== null && { cursor }) }
        const page: SentMonth = await api('POST', '/bills/send-all', { body })
        cursor = page.next_cursor
        await mails.refetch()
      } while (cursor !== null)
    }).finally(() => {
      onChanged()
      return mails.refetch()
    })
  const { data } = mails
  return (
    <Stack>
      <Text size="sm">{t('send_all_text', { month })}</Text>
      <ErrorAlert error={mails.error ?? error} />
      {data !== undefined && <HowFar mails={data} isBusy={isBusy} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('close')}
        </Button>
        <Button
          loading={isBusy}
          disabled={data === undefined || data.left + data.failed === 0}
          onClick={() => void send()}
        >
          {t('send_all')}
        </Button>
      </Group>
    </Stack>
  )
}

function HowFar({ mails, isBusy }: { mails: BillMails; isBusy: boolean }) {
  const t = useMessages(messages)
  const server = useServerText()
  const { closed, sent, left, failed, without_address, failures } = mails
  return (
    <>
      <Progress
        value={(sent / Math.max(1, closed)) * 100}
        aria-label={t('sent_of', { sent, closed })}
        animated={isBusy}
      />
      <Alert color={failed + without_address > 0 ? 'orange' : 'teal'} role="status">
        {t('mail_counts', { sent, closed, left, failed, none: without_address })}
      </Alert>
      {failures.length > 0 && (
        <SimpleTable
          label={t('not_sent')}
          rows={failures}
          rowKey={({ account }) => account}
          maxHeight="30vh"
          columns={[
            { title: t('account'), isPrivate: true, cell: ({ account }) => account },
            { title: t('email'), isPrivate: true, cell: ({ email }) => email },
            { title: t('why'), cell: ({ reason }) => server.sentence(reason) },
          ]}
        />
      )}
      {mails.accounts_without_address.length > 0 && (
        <Text size="sm">
          {t('no_address')}{' '}
          <span className={privateClass}>{mails.accounts_without_address.join(', ')}</span>
        </Text>
      )}
    </>
  )
}
