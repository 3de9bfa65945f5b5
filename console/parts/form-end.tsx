// How every form ends: what went wrong, the way out, and the button that sends it.
import { Button, Group } from '@mantine/core'
import { useWords } from '../lib/words.ts'
import { ErrorNote } from './page.tsx'
import { common } from './words.ts'

export function FormEnd({
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
  const say = useWords(common)
  return (
    <>
      <ErrorNote error={error} />
      <Group justify="flex-end">
        {onCancel !== undefined && (
          <Button variant="default" onClick={onCancel}>
            {say('cancel')}
          </Button>
        )}
        <Button type="submit" loading={isBusy}>
          {submit}
        </Button>
      </Group>
    </>
  )
}
