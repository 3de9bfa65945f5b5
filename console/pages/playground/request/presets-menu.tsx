// Samples, saved presets, and the link that contains the current request.
import { Button, Group, Menu, Text } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { NameForm } from '../../../components/name-form.tsx'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useSession } from '../../../lib/session.ts'
import { useStoredText } from '../../../lib/storage.ts'
import { messages } from '../messages.ts'
import { fragmentOf, type NamedPreset, type Preset, presetsIn, withPreset } from './presets.ts'
import { samplesFor } from './samples.ts'

interface PresetsMenuProps {
  /** The request as it stands now. */
  now: () => Preset
  onChoose: (preset: Preset) => void
}

type Note = 'link_copied' | 'link_in_address' | 'too_long' | 'saved'

export function PresetsMenu({ now, onChoose }: PresetsMenuProps) {
  const t = useMessages(messages)
  const session = useSession()
  const [text, store] = useStoredText(`gateway-presets ${session.name}`)
  const [isNaming, setNaming] = useState(false)
  const [note, setNote] = useState<Note>()
  const presets = presetsIn(text)
  const write = (all: readonly NamedPreset[]) =>
    store(all.length === 0 ? undefined : JSON.stringify(all))
  const save = (name: string) => {
    setNaming(false)
    const all = withPreset(presets, { ...now(), name })
    if (all !== undefined) write(all)
    setNote(all === undefined ? 'too_long' : 'saved')
  }
  const share = async () => setNote(await shareLink(now()))
  if (isNaming) {
    return <NameForm label={t('preset_name')} onName={save} onCancel={() => setNaming(false)} />
  }
  return (
    <Group gap="xs">
      <Choices
        presets={presets}
        samples={samplesFor(now())}
        onChoose={(preset) => {
          setNote(undefined)
          onChoose(preset)
        }}
        onForget={(name) => write(presets.filter((each) => each.name !== name))}
        onSave={() => setNaming(true)}
      />
      <Button variant="default" size="xs" onClick={share}>
        {t('share')}
      </Button>
      <Text size="xs" c="dimmed" role="status">
        {note !== undefined && t(note)}
      </Text>
    </Group>
  )
}

/** The address becomes the link, too, because not every browser allows copying. */
async function shareLink(preset: Preset): Promise<Note> {
  const fragment = fragmentOf(preset)
  if (fragment === undefined) return 'too_long'
  history.replaceState(null, '', location.pathname + fragment)
  try {
    await navigator.clipboard.writeText(location.href)
    return 'link_copied'
  } catch {
    return 'link_in_address'
  }
}

function Choices({
  presets,
  samples,
  onChoose,
  onForget,
  onSave,
}: {
  presets: readonly NamedPreset[]
  samples: ReturnType<typeof samplesFor>
  onChoose: (preset: Preset) => void
  onForget: (name: string) => void
  onSave: () => void
}) {
  const t = useMessages(messages)
  return (
    <Menu withinPortal position="bottom-start">
      <Menu.Target>
        <Button variant="default" size="xs">
          {t('presets')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {samples.map((sample) => (
          <Menu.Item key={sample.name} onClick={() => onChoose(sample)}>
            {t(sample.name)}
          </Menu.Item>
        ))}
        {samples.length > 0 && <Menu.Divider />}
        {presets.map((preset) => (
          <Group key={preset.name} gap={0} wrap="nowrap">
            <Menu.Item onClick={() => onChoose(preset)} className={privateClass}>
              {preset.name}
              <Text span size="xs" c="dimmed">
                {' '}
                · {preset.title}
              </Text>
            </Menu.Item>
            <Menu.Item
              w={34}
              aria-label={t('forget_preset', { name: preset.name })}
              onClick={() => onForget(preset.name)}
            >
              <Icon name="close" size={12} />
            </Menu.Item>
          </Group>
        ))}
        {presets.length > 0 && <Menu.Divider />}
        <Menu.Item onClick={onSave}>{t('save_preset')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
