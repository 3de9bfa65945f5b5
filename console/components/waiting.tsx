// While something is loaded: a spinner, and after two seconds a word.
import { Center, Loader, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'

const messages = defineMessages({
  slow: ['Still waiting for the gateway…', '仍在等待网关响应…'],
})

const silentMs = 2_000

/** Nothing in the first two seconds. */
export function SlowNote() {
  const t = useMessages(messages)
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), silentMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Text size="sm" c="dimmed" role="status" component="span">
      {isSlow && t('slow')}
    </Text>
  )
}

export const Waiting = () => (
  <Center h="60vh">
    <Stack align="center" gap="sm">
      <Loader size="sm" />
      <SlowNote />
    </Stack>
  </Center>
)
