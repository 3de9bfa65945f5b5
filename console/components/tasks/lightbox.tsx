// Images as large as the screen: one after the other, two side by side, or at their actual size.
import { Button, Group, Modal, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { taskMessages } from './messages.ts'

export function Lightbox({
  links,
  at,
  onMove,
}: {
  links: readonly string[]
  /** Which one is shown; undefined while it is closed. */
  at: number | undefined
  onMove: (at: number | undefined) => void
}) {
  const t = useMessages(taskMessages)
  const [isActualSize, setActualSize] = useState(false)
  const [isCompared, setCompared] = useState(false)
  const count = links.length
  const step = (by: number) => at !== undefined && onMove((at + by + count) % count)
  const arrows = [
    ['ArrowLeft', () => step(-1)],
    ['ArrowRight', () => step(1)],
  ] as const
  useShortcuts(at === undefined ? {} : Object.fromEntries(arrows))
  const next = at === undefined ? 0 : (at + 1) % count
  const shown = at === undefined ? [] : isCompared && count > 1 ? [at, next] : [at]
  const nameOf = (i: number) => t('image_of', { n: i + 1, all: count })
  return (
    <Modal
      opened={at !== undefined}
      onClose={() => onMove(undefined)}
      fullScreen
      title={at === undefined ? '' : nameOf(at)}
    >
      <Group gap="xs" mb="sm">
        {count > 1 && (
          <>
            <Button size="xs" variant="default" onClick={() => step(-1)}>
              ← {t('previous')}
            </Button>
            <Button size="xs" variant="default" onClick={() => step(1)}>
              {t('next')} →
            </Button>
            <Toggle label={t('compare')} isOn={isCompared} onChange={setCompared} />
          </>
        )}
        <Toggle label={t('actual_size')} isOn={isActualSize} onChange={setActualSize} />
      </Group>
      <SimpleGrid cols={shown.length > 1 ? 2 : 1}>
        {shown.map((i) => (
          <section
            key={links[i]}
            tabIndex={0}
            aria-label={nameOf(i)}
            style={{ overflow: 'auto', maxHeight: 'calc(100vh - 150px)' }}
          >
            <img src={links[i]} alt={nameOf(i)} style={isActualSize ? actualSize : fitted} />
          </section>
        ))}
      </SimpleGrid>
    </Modal>
  )
}

const actualSize = { maxWidth: 'none' }
const fitted = {
  display: 'block',
  margin: 'auto',
  maxWidth: '100%',
  maxHeight: 'calc(100vh - 160px)',
}

const Toggle = ({
  label,
  isOn,
  onChange,
}: {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}) => (
  <Button
    size="xs"
    variant={isOn ? 'light' : 'default'}
    aria-pressed={isOn}
    onClick={() => onChange(!isOn)}
  >
    {label}
  </Button>
)
