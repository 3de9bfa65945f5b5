// What came of a task, to look at and to take along, and what it was made from.
import { Anchor, Button, Group, Select, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { isWebAddress, localPath } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useWords } from '../../lib/words.ts'
import { openFiles, type Task } from './task.ts'
import { words } from './words.ts'

export function Results({ task }: { task: Task }) {
  const say = useWords(words)
  const format = useFormat()
  if (task.files.length === 0) return null
  const files = openFiles(task, Date.now())
  if (files.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {say('expired', { when: format.time(task.files[0]!.expires_at) })}
      </Text>
    )
  }
  const videos = files.filter(({ kind }) => kind === 'video')
  const pictures = files.filter(({ kind }) => kind === 'image')
  return (
    <Stack gap="xs">
      {videos.map(({ url }) => (
        <Player key={url} src={localPath(url)} />
      ))}
      {pictures.length > 0 && (
        <SimpleGrid cols={pictures.length === 1 ? 1 : 2}>
          {pictures.map(({ url }, i) => (
            <a key={url} href={localPath(url)} target="_blank" rel="noreferrer">
              <img
                src={localPath(url)}
                alt={`${task.request.prompt} ${i + 1}`}
                style={{ width: '100%' }}
              />
            </a>
          ))}
        </SimpleGrid>
      )}
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
            {say('download')} {files.length > 1 ? i + 1 : ''}
          </Button>
        ))}
        <Text size="xs" c="dimmed">
          {say('expires', { when: format.ago(files[0]!.expires_at) })}
        </Text>
      </Group>
    </Stack>
  )
}

const frameSeconds = 1 / 24

function Player({ src }: { src: string }) {
  const say = useWords(words)
  const video = useRef<HTMLVideoElement>(null)
  const [isLooping, setLooping] = useState(false)
  const step = (by: number) => {
    if (video.current === null) return
    video.current.pause()
    video.current.currentTime += by * frameSeconds
  }
  return (
    <Stack gap={6}>
      {/* biome-ignore lint/a11y/useMediaCaption: nobody has captions for what was made a minute ago */}
      <video
        ref={video}
        src={src}
        controls
        playsInline
        loop={isLooping}
        style={{ width: '100%' }}
      />
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={() => step(-1)}>
          {say('step_back')}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => step(1)}>
          {say('step_on')}
        </Button>
        <Select
          size="xs"
          w={90}
          aria-label={say('speed')}
          data={['0.25', '0.5', '1', '2'].map((value) => ({ value, label: `${value}×` }))}
          defaultValue="1"
          allowDeselect={false}
          onChange={(value) => {
            if (video.current !== null) video.current.playbackRate = Number(value ?? 1)
          }}
        />
        <Switch
          size="xs"
          label={say('loop')}
          checked={isLooping}
          onChange={(event) => setLooping(event.currentTarget.checked)}
        />
      </Group>
    </Stack>
  )
}

/** By address only: the console opens nothing that a caller chose. */
export function Inputs({ task: { request } }: { task: Task }) {
  const say = useWords(words)
  if (request.inputs.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {say('inputs')}
      </Text>
      {request.inputs.map(({ kind, role, url }) => (
        <Text key={`${role} ${url}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {role === null ? kind : say(role)}: {url === 'data:' && say('data')}
          {url !== 'data:' && !isWebAddress(url) && url}
          {isWebAddress(url) && (
            <Anchor href={url} target="_blank" rel="noreferrer noopener" size="sm">
              {url}
            </Anchor>
          )}
        </Text>
      ))}
    </Stack>
  )
}
