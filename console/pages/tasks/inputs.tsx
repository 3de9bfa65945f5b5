// The inputs of a task: images as thumbnails with their role. They stay where the caller put them, so they
// are loaded only on request, and by the gateway, never by this browser.
import { Anchor, Button, Card, Group, Image, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { SectionTitle } from '../../components/page.tsx'
import { isWebAddress } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Task } from '../../lib/resources/task.ts'
import { messages } from './messages.ts'

type Input = Task['request']['inputs'][number]

export function Inputs({ task }: { task: Task }) {
  const t = useMessages(messages)
  const [isShown, setShown] = useState(false)
  const { inputs } = task.request
  if (inputs.length === 0) return null
  const canShow = inputs.some(isImage)
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <SectionTitle>{t('inputs')}</SectionTitle>
        {canShow && !isShown && (
          <Button size="compact-xs" variant="default" onClick={() => setShown(true)}>
            {t('show_inputs')}
          </Button>
        )}
      </Group>
      <SimpleGrid cols={{ base: 2, xs: 3 }}>
        {inputs.map((input, i) => (
          <InputCard
            // biome-ignore lint/suspicious/noArrayIndexKey: the same one may be there twice
            key={i}
            input={input}
            src={`/admin/v1/tasks/${encodeURIComponent(task.id)}/input?part=${i}`}
            isShown={isShown}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

const isImage = ({ kind, url }: Input): boolean => kind === 'image' && isWebAddress(url)

function InputCard({ input, src, isShown }: { input: Input; src: string; isShown: boolean }) {
  const t = useMessages(messages)
  const [isMissing, setMissing] = useState(false)
  const { kind, role, url } = input
  const title = t(role ?? (kind === 'video' ? 'input_video' : 'input_image'))
  return (
    <Card withBorder padding="xs">
      {isShown && isImage(input) && !isMissing && (
        <Card.Section>
          <Image src={src} alt={title} h={110} fit="cover" onError={() => setMissing(true)} />
        </Card.Section>
      )}
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {isMissing && (
        <Text size="xs" c="dimmed">
          {t('input_gone')}
        </Text>
      )}
      {url === 'data:' && (
        <Text size="xs" c="dimmed">
          {t('data')}
        </Text>
      )}
      {url !== 'data:' && !isWebAddress(url) && (
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Text>
      )}
      {isWebAddress(url) && (
        <Anchor
          href={url}
          target="_blank"
          rel="noreferrer noopener"
          size="xs"
          lineClamp={3}
          title={url}
          style={{ overflowWrap: 'anywhere' }}
        >
          {url}
        </Anchor>
      )}
    </Card>
  )
}
