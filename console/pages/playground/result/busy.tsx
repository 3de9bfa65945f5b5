// A call that is under way and has not answered yet.
import { Group, Loader } from '@mantine/core'
import { SlowNote } from '../../../components/waiting.tsx'
import { useMessages } from '../../../lib/messages.ts'
import { messages } from '../messages.ts'

export function Busy() {
  const t = useMessages(messages)
  return (
    <Group>
      <Loader size="sm" aria-label={t('busy')} />
      <SlowNote />
    </Group>
  )
}
