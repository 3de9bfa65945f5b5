// What is said next: text, and images that are dropped, pasted, chosen or named by their address.
import { Alert, Button, FileButton, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ClipboardEvent, type ReactNode, useState } from 'react'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useAction } from '../../../lib/use-action.ts'
import { DropBox } from '../drop-box.tsx'
import { messages } from '../messages.ts'
import { isImageAddress } from './conversation.ts'
import { Images } from './turn-view.tsx'

/** The gateway takes bodies of 10 MB and more; what is larger is no picture for a try. */
const maxImageBytes = 8_000_000

const readFile = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error(file.name))
    reader.readAsDataURL(file)
  })

/** Each once. */
const withMore = (images: readonly string[], more: readonly string[]): string[] => [
  ...new Set([...images, ...more]),
]

interface ComposerProps {
  prompt: string
  images: readonly string[]
  onPrompt: (prompt: string) => void
  onImages: (images: readonly string[]) => void
  children: ReactNode
}

export function Composer({ prompt, images, onPrompt, onImages, children }: ComposerProps) {
  const t = useMessages(messages)
  const [refused, setRefused] = useState<string>()
  const { run } = useAction()
  const add = (files: readonly File[]) => {
    const fitting = files.filter(
      ({ type, size }) => /^image\/[\w.+-]+$/.test(type) && size <= maxImageBytes,
    )
    setRefused(files.find((file) => !fitting.includes(file))?.name)
    void run(async () => onImages(withMore(images, await Promise.all(fitting.map(readFile)))))
  }
  const paste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    add(files)
  }
  return (
    <DropBox label={t('your_message')} onFiles={add}>
      <Stack gap="xs">
        <Textarea
          label={t('prompt')}
          value={prompt}
          autosize
          minRows={3}
          maxRows={12}
          classNames={{ input: privateClass }}
          onPaste={paste}
          onChange={(event) => onPrompt(event.currentTarget.value)}
        />
        <Images
          addresses={images}
          onRemove={(at) => onImages(images.filter((_, each) => each !== at))}
        />
        <Group gap="xs">
          <FileButton accept="image/*" multiple onChange={add}>
            {(props) => (
              <Button {...props} size="xs" variant="default">
                {t('add_image')}
              </Button>
            )}
          </FileButton>
          <ImageAddress onAdd={(address) => onImages(withMore(images, [address]))} />
          <Text size="xs" c="dimmed">
            {t('drop_image')}
          </Text>
        </Group>
        {refused !== undefined && <Alert color="yellow">{t('no_image', { name: refused })}</Alert>}
        {children}
      </Stack>
    </DropBox>
  )
}

function ImageAddress({ onAdd }: { onAdd: (address: string) => void }) {
  const t = useMessages(messages)
  const [address, setAddress] = useState('')
  const isGood = isImageAddress(address.trim())
  const add = () => {
    if (!isGood) return
    onAdd(address.trim())
    setAddress('')
  }
  return (
    <TextInput
      aria-label={t('image_url')}
      placeholder={`${t('image_url')} ↵`}
      value={address}
      error={address !== '' && !isGood && /^.{8,}/.test(address) && t('no_address')}
      onChange={(event) => setAddress(event.currentTarget.value)}
      onBlur={add}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) add()
      }}
    />
  )
}
