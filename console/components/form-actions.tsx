// The end of a form: its error, the cancel button and the submit button.
import { Button, Group } from '@mantine/core'
import { useMessages } from '../lib/messages.ts'
import { ErrorAlert } from './page.tsx'

export function FormActions({
  error,
  submit,
  onCancel,
  isBusy = false,
}: {
  error: Error | undefined
  /** What the button says. */
  submit: string
  onCancel?: () => void
  isBusy?: boolean
}) {
  const t = useMessages()
  return (
    <>
      <ErrorAlert error={error} />
      <Group justify="flex-end">
        {onCancel !== undefined && (
          <Button variant="default" onClick={onCancel}>
            {t('cancel')}
          </Button>
        )}
        <Button type="submit" loading={isBusy}>
          {submit}
        </Button>
      </Group>
    </>
  )
}
