// Tasks as pictures: what came of each, or how far it is.
import {
  AspectRatio,
  Button,
  Card,
  Center,
  Group,
  SimpleGrid,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { localPath } from '../../lib/api.ts'
import type { List } from '../../lib/lists.ts'
import { useWords } from '../../lib/words.ts'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { HowFar } from './columns.tsx'
import { isLive, openFiles, type Task } from './task.ts'
import { words } from './words.ts'

export function Gallery({ list, onOpen }: { list: List<Task>; onOpen: (task: Task) => void }) {
  const shared = useWords(common)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4 }}>
        {list.rows.map((task) => (
          <TaskCard key={task.id} task={task} onOpen={() => onOpen(task)} />
        ))}
      </SimpleGrid>
      {list.hasMore && (
        <Center>
          <Button variant="default" loading={list.isLoadingMore} onClick={list.more}>
            {shared('more')}
          </Button>
        </Center>
      )}
    </>
  )
}

function TaskCard({ task, onOpen }: { task: Task; onOpen: () => void }) {
  const say = useWords(words)
  return (
    <Card withBorder padding="xs" component="article">
      <Card.Section>
        <UnstyledButton w="100%" onClick={onOpen} aria-label={task.request.prompt || task.id}>
          <AspectRatio ratio={16 / 9}>
            <Preview task={task} />
          </AspectRatio>
        </UnstyledButton>
      </Card.Section>
      <Text size="sm" mt="xs" lineClamp={2}>
        {task.request.prompt}
      </Text>
      <Group justify="space-between" mt={4}>
        <State state={task.state} label={say(task.state)} />
        <Text size="xs" c="dimmed">
          {task.model} · <Time at={task.created_at} how="ago" />
        </Text>
      </Group>
    </Card>
  )
}

function Preview({ task }: { task: Task }) {
  const say = useWords(words)
  const [file] = openFiles(task, Date.now())
  if (file === undefined) {
    return (
      <Center bg="var(--mantine-color-default-hover)">
        {isLive(task) ? <HowFar task={task} /> : <Text size="sm">{say(task.state)}</Text>}
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
