// What came of a task, to look at and to take along, and how long it can be had.
import { Anchor, Button, Group, Select, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { localPath } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { openFiles, type Task } from '../../lib/resources/task.ts'
import { useNow } from '../../lib/use-now.ts'
import { Lightbox } from './lightbox.tsx'
import { taskMessages } from './messages.ts'

export function Results({ task }: { task: Task }) {
  const t = useMessages(taskMessages)
  const format = useFormat()
  const files = openFiles(task, useNow(30 * tickMs))
  if (task.files.length === 0) return null
  if (files.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('expired', { when: format.time(task.files[0]!.expires_at) })}
      </Text>
    )
  }
  const videos = files.filter(({ kind }) => kind === 'video')
  const images = files.filter(({ kind }) => kind === 'image').map(({ url }) => localPath(url))
  return (
    <Stack gap="xs">
      {videos.map(({ url }) => (
        <Player key={url} src={localPath(url)} />
      ))}
      {images.length > 0 && <Images links={images} prompt={task.request.prompt} />}
      <Group>
        {files.map(({ url, kind }, i) => (
          <Button
            key={url}
            component="a"
            href={localPath(url)}
            download={`${task.id}-${i + 1}.${kind === 'video' ? 'mp4' : 'png'}`}
            variant="default"
            size="xs"
          >
            {t('download')} {files.length > 1 ? i + 1 : ''}
          </Button>
        ))}
        <Expiry at={files[0]!.expires_at} />
      </Group>
    </Stack>
  )
}

const tickMs = 1_000

/** Counts down; in the last hour in a colour that says so. */
function Expiry({ at }: { at: string }) {
  const t = useMessages(taskMessages)
  const format = useFormat()
  const leftMs = Date.parse(at) - useNow(tickMs)
  const hours = Math.floor(leftMs / 3_600_000)
  const minutes = Math.floor((leftMs % 3_600_000) / 60_000)
  const left = hours > 0 ? t('hours_left', { h: hours, m: minutes }) : format.ms(leftMs)
  return (
    <Text size="xs" c={hours > 0 ? 'dimmed' : 'orange'} title={format.time(at)}>
      {t('expires', { time: left })}
    </Text>
  )
}

function Images({ links, prompt }: { links: readonly string[]; prompt: string }) {
  const t = useMessages(taskMessages)
  const [opened, setOpened] = useState<number>()
  return (
    <>
      <SimpleGrid cols={links.length === 1 ? 1 : 2}>
        {links.map((link, i) => (
          <Anchor
            key={link}
            component="button"
            type="button"
            aria-label={t('enlarge', { n: i + 1 })}
            onClick={() => setOpened(i)}
          >
            <img src={link} alt={`${prompt} ${i + 1}`} style={{ width: '100%' }} />
          </Anchor>
        ))}
      </SimpleGrid>
      <Lightbox links={links} at={opened} onMove={setOpened} />
    </>
  )
}

const frameSeconds = 1 / 24
/** The very end shows nothing in some browsers. */
const beforeEndSeconds = 0.05

function Player({ src }: { src: string }) {
  const t = useMessages(taskMessages)
  const video = useRef<HTMLVideoElement>(null)
  const [isLooping, setLooping] = useState(false)
  const seek = (to: (now: number, whole: number) => number) => {
    const { current } = video
    if (current === null || !Number.isFinite(current.duration)) return
    current.pause()
    current.currentTime = Math.max(0, to(current.currentTime, current.duration))
  }
  return (
    <Stack gap={6}>
      {/* biome-ignore lint/a11y/useMediaCaption: there are no captions for generated videos */}
      <video
        ref={video}
        src={src}
        controls
        playsInline
        preload="metadata"
        loop={isLooping}
        style={{ width: '100%' }}
      />
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => seek((now) => now - frameSeconds)}
        >
          {t('step_back')}
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => seek((now) => now + frameSeconds)}
        >
          {t('step_on')}
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => seek((_, whole) => whole - beforeEndSeconds)}
        >
          {t('last_output_frame')}
        </Button>
        <Select
          size="xs"
          w={90}
          aria-label={t('speed')}
          data={['0.25', '0.5', '1', '2'].map((value) => ({ value, label: `${value}×` }))}
          defaultValue="1"
          allowDeselect={false}
          onChange={(value) => {
            if (video.current !== null) video.current.playbackRate = Number(value ?? 1)
          }}
        />
        <Switch
          size="xs"
          label={t('loop')}
          checked={isLooping}
          onChange={(event) => setLooping(event.currentTarget.checked)}
        />
      </Group>
    </Stack>
  )
}
