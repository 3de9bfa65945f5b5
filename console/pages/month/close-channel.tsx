// Closing a month of a channel: a note, and the reason where lines are unexplained.
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import type { ChannelMonthView } from '../../../src/admin/months/month-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

export function CloseChannel({
  shown,
  onClose,
  onDone,
}: {
  shown: ChannelMonthView
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { month, channel, currency, difference, unexplained_lines, missing_days } = shown
  const [note, setNote] = useState('')
  const [reason, setReason] = useState('')
  const { error, isBusy, run } = useAction()
  const needsReason = unexplained_lines > 0 || missing_days.length > 0
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const body = {
      channel,
      ...(note.trim() !== '' && { note }),
      ...(needsReason && { reason }),
    }
    if (!(await run(() => api('POST', `/months/${month}/close`, { body })))) return
    onDone()
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('close_title', { month, channel })}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <Text size="sm">
            {t('close_text', { amount: format.exact(difference ?? '0.00', currency) })}
          </Text>
          <TextInput
            label={t('note')}
            value={note}
            maxLength={500}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          {needsReason && (
            <Textarea
              label={t('why')}
              description={t('why_hint', {
                lines: format.number(unexplained_lines),
                days: format.number(missing_days.length),
              })}
              value={reason}
              required
              maxLength={500}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          )}
          <ErrorAlert error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('keep_open')}
            </Button>
            <Button type="submit" loading={isBusy} disabled={needsReason && reason.trim() === ''}>
              {t('close')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
