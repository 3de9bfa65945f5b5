// A sound file: dropped, chosen, or recorded with the microphone.
import { Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { DropBox } from '../drop-box.tsx'
import { messages } from '../messages.ts'

const accepted = 'audio/*,video/mp4,video/webm,.mp3,.wav,.flac,.ogg,.webm,.m4a,.mp4,.aac'

export function SoundField({
  file,
  onChange,
}: {
  file: File | undefined
  onChange: (file: File | undefined) => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const recorder = useRecorder(onChange)
  return (
    <Stack gap="xs">
      <DropBox label={t('sound_file')} onFiles={([first]) => onChange(first)}>
        <Text size="sm">
          {file === undefined ? t('drop_sound') : `${file.name}, ${format.size(file.size)}`}
        </Text>
        <Group gap="xs">
          <FileButton accept={accepted} onChange={(chosen) => chosen && onChange(chosen)}>
            {(props) => (
              <Button {...props} size="xs" variant="default">
                {t('choose_file')}
              </Button>
            )}
          </FileButton>
          {recorder.isPossible && (
            <Button
              size="xs"
              variant="default"
              {...(recorder.isRecording && { color: 'red', variant: 'light' })}
              onClick={recorder.isRecording ? recorder.stop : recorder.start}
            >
              {t(recorder.isRecording ? 'stop_recording' : 'record')}
            </Button>
          )}
        </Group>
        {recorder.problem !== undefined && (
          <Text size="xs" c="red" role="alert">
            {t('no_microphone', { why: recorder.problem })}
          </Text>
        )}
      </DropBox>
      {file !== undefined && <Player file={file} label={file.name} />}
    </Stack>
  )
}

/** Plays bytes that are at hand. */
export function Player({ file, label }: { file: Blob; label: string }) {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(file)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  // biome-ignore lint/a11y/useMediaCaption: what is said in it is what one asks for
  return <audio controls src={address} aria-label={label} style={{ width: '100%' }} />
}

function useRecorder(onDone: (file: File) => void) {
  const [isRecording, setRecording] = useState(false)
  const [problem, setProblem] = useState<string>()
  const recorder = useRef<MediaRecorder>(undefined)
  useEffect(() => () => recorder.current?.stop(), [])
  const start = async () => {
    setProblem(undefined)
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      const made = new MediaRecorder(stream)
      const parts: Blob[] = []
      made.ondataavailable = ({ data }) => parts.push(data)
      made.onstop = () => {
        for (const track of stream.getTracks()) track.stop()
        setRecording(false)
        const type = made.mimeType.split(';')[0] ?? ''
        const ending = type.endsWith('mp4') ? 'm4a' : (type.split('/')[1] ?? 'webm')
        onDone(new File(parts, `recording.${ending}`, { type }))
      }
      recorder.current = made
      made.start()
      setRecording(true)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  // Browsers give the microphone to pages over TLS and on localhost only.
  const isPossible = typeof MediaRecorder !== 'undefined' && window.isSecureContext
  return { isRecording, isPossible, problem, start, stop: () => recorder.current?.stop() }
}
