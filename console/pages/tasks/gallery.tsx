// Tasks as a gallery: the result of each, or its progress.
import {
  AspectRatio,
  Button,
  Card,
  Center,
  Group,
  SimpleGrid,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { TaskProgress } from '../../components/tasks/progress.tsx'
import { State, Time } from '../../components/values.tsx'
import { localPath } from '../../lib/api.ts'
import type { List } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { isLive, openFiles, type Task } from '../../lib/resources/task.ts'
import { messages } from './messages.ts'

export function Gallery({ list, onOpen }: { list: List<Task>; onOpen: (task: Task) => void }) {
  const t = useMessages()
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4 }}>
        {list.rows.map((task) => (
          <TaskCard key={task.id} task={task} onOpen={() => onOpen(task)} />
        ))}
      </SimpleGrid>
      {list.hasMore && (
        <Center>
          <Button variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
            {t('more')}
          </Button>
        </Center>
      )}
    </>
  )
}

function TaskCard({ task, onOpen }: { task: Task; onOpen: () => void }) {
  const t = useMessages(messages)
  return (
    <Card withBorder padding="xs" component="article">
      <Card.Section>
        <UnstyledButton w="100%" onClick={onOpen}>
          <VisuallyHidden>{task.request.prompt || task.id}</VisuallyHidden>
          <AspectRatio ratio={16 / 9}>
            <Preview task={task} />
          </AspectRatio>
        </UnstyledButton>
      </Card.Section>
      <Text size="sm" mt="xs" lineClamp={2}>
        {task.request.prompt}
      </Text>
      <Group justify="space-between" mt={4}>
        <State state={task.state} label={t(task.state)} />
        <Text size="xs" c="dimmed">
          {task.model} · <Time at={task.created_at} how="ago" />
        </Text>
      </Group>
    </Card>
  )
}

function Preview({ task }: { task: Task }) {
  const t = useMessages(messages)
  const [file] = openFiles(task, Date.now())
  if (file === undefined) {
    return (
      <Center bg="var(--mantine-color-default-hover)">
        {isLive(task) ? (
          <TaskProgress task={task} />
        ) : (
          <Text size="sm">{t(task.state === 'succeeded' ? 'input_gone' : task.state)}</Text>
        )}
      </Center>
    )
  }
  return file.kind === 'image' ? (
    <img src={localPath(file.url)} alt="" loading="lazy" style={{ objectFit: 'cover' }} />
  ) : (
    // The first frame is enough here; the sheet plays it.
    <video src={`${localPath(file.url)}#t=0.1`} preload="metadata" muted playsInline />
  )
}
