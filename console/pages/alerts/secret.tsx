// A secret that is shown once: no key and no click beside it takes it away.
import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { CopyBlock } from '../../components/copy.tsx'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { messages } from './messages.ts'

export function OneTimeSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const t = useMessages(messages)
  return (
    <Modal
      opened
      onClose={onDone}
      title={t('secret_title')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert color="yellow">{t('secret')}</Alert>
        <div className={privateClass}>
          <CopyBlock text={secret} label={t('secret_title')} />
        </div>
        <Group justify="flex-end">
          <Button onClick={onDone}>{t('done')}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
