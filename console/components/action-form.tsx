// A form that makes one call: its fields, the last error, the cancel button and the submit button.
import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode, SubmitEvent } from 'react'
import { useMessages } from '../lib/messages.ts'
import { useAction } from '../lib/use-action.ts'
import { ErrorAlert } from './page.tsx'
import { SlowNote } from './waiting.tsx'

export function ActionForm({
  submit,
  onSubmit,
  onCancel,
  children,
}: {
  /** What the button says. */
  submit: string
  /** What it throws is shown. */
  onSubmit: () => Promise<unknown>
  onCancel?: () => void
  children: ReactNode
}) {
  const t = useMessages()
  const { error, isBusy, run } = useAction()
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    void run(onSubmit)
  }
  return (
    <form onSubmit={send}>
      <Stack>
        {children}
        <ErrorAlert error={error} />
        <Group justify="flex-end">
          {isBusy && <SlowNote />}
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              {t('cancel')}
            </Button>
          )}
          <Button type="submit" loading={isBusy}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
