// Closes a month for all accounts: what it means, how far it is, how many were closed, and which were not
// and why.
import { Alert, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { ClosedMonths } from '../../../src/admin/closing/closing-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'
import { VerifyLedger } from './verify.tsx'

type Sum = Pick<ClosedMonths, 'closed' | 'already_closed' | 'refused'>

const nothing: Sum = { closed: 0, already_closed: 0, refused: [] }

const doneIn = ({ closed, already_closed, refused }: Sum): number =>
  closed + already_closed + refused.length

interface Props {
  month: string
  /** How many accounts have the month. */
  accounts: number
  /** What can be done with a closed month. */
  next: ReactNode
  onChanged: () => void
}

export function CloseAll({ isOpen, onClose, ...props }: Props & CloseAllDialog) {
  const t = useMessages(messages)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t('close_all_of', { month: props.month })}
      size="lg"
      closeOnClickOutside={false}
    >
      {isOpen && <Closing {...props} onClose={onClose} />}
    </Modal>
  )
}

interface CloseAllDialog {
  isOpen: boolean
  onClose: () => void
}

function Closing({ month, accounts, next, onChanged, onClose }: Props & { onClose: () => void }) {
  const t = useMessages(messages)
  const [sum, setSum] = useState<Sum>(nothing)
  const [isDone, setDone] = useState(false)
  const { error, isBusy, run } = useAction()
  const close = () =>
    run(async () => {
      let total = nothing
      let cursor: string | null = null
      do {
        const body = { month, ...(cursor !== null && { cursor }) }
        const page: ClosedMonths = await api('POST', '/bills/close-all', { body })
        total = {
          closed: total.closed + page.closed,
          already_closed: total.already_closed + page.already_closed,
          refused: [...total.refused, ...page.refused],
        }
        setSum(total)
        cursor = page.next_cursor
      } while (cursor !== null)
      setDone(true)
    }).finally(onChanged)
  if (isDone) return <Outcome sum={sum} next={next} onClose={onClose} />
  return (
    <Stack>
      <Text size="sm">{t('close_all_text', { month, n: accounts })}</Text>
      <Text size="sm">{t('close_text')}</Text>
      {isBusy && (
        <Progress
          value={(doneIn(sum) / Math.max(1, accounts)) * 100}
          aria-label={t('close_all')}
          animated
        />
      )}
      <ErrorAlert error={error} />
      {error !== undefined && doneIn(sum) > 0 && <Counts sum={sum} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('keep_open')}
        </Button>
        <Button color="red" loading={isBusy} onClick={() => void close()}>
          {t('close_all')}
        </Button>
      </Group>
    </Stack>
  )
}

function Counts({ sum }: { sum: Sum }) {
  const t = useMessages(messages)
  const { closed, already_closed, refused } = sum
  return (
    <Alert color={refused.length > 0 ? 'orange' : 'teal'} role="status">
      {t('closed_count', { n: closed, before: already_closed, refused: refused.length })}
    </Alert>
  )
}

function Outcome({ sum, next, onClose }: Pick<Props, 'next'> & { sum: Sum; onClose: () => void }) {
  const t = useMessages(messages)
  const server = useServerText()
  return (
    <Stack>
      <Counts sum={sum} />
      {sum.refused.length > 0 && (
        <SimpleTable
          label={t('refused')}
          rows={sum.refused}
          rowKey={({ account }) => account}
          maxHeight="40vh"
          columns={[
            { title: t('account'), isPrivate: true, cell: ({ account }) => account },
            { title: t('why'), cell: ({ reason }) => server.sentence(reason) },
          ]}
        />
      )}
      <VerifyLedger />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('close')}
        </Button>
        {sum.closed + sum.already_closed > 0 && next}
      </Group>
    </Stack>
  )
}
