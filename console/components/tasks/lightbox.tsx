// Pictures as large as the screen: one after the other, two beside each other, or at their true size.
import { Button, Group, Modal, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { messages } from '../../pages/tasks/messages.ts'

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
  const t = useMessages(messages)
  const [isTrueSize, setTrueSize] = useState(false)
  const [isCompared, setCompared] = useState(false)
  const count = links.length
  const step = (by: number) => at !== undefined && onMove((at + by + count) % count)
  const keys = [
    ['ArrowLeft', () => step(-1)],
    ['ArrowRight', () => step(1)],
  ] as const
  useShortcuts(at === undefined ? {} : Object.fromEntries(keys))
  const next = at === undefined ? 0 : (at + 1) % count
  const shown = at === undefined ? [] : isCompared && count > 1 ? [at, next] : [at]
  return (
    <Modal
      opened={at !== undefined}
      onClose={() => onMove(undefined)}
      fullScreen
      closeButtonProps={{ 'aria-label': t('close') }}
      title={at === undefined ? '' : t('picture_of', { n: at + 1, all: count })}
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
            <Button
              size="xs"
              variant={isCompared ? 'light' : 'default'}
              aria-pressed={isCompared}
              onClick={() => setCompared(!isCompared)}
            >
              {t('compare')}
            </Button>
          </>
        )}
        <Button
          size="xs"
          variant={isTrueSize ? 'light' : 'default'}
          aria-pressed={isTrueSize}
          onClick={() => setTrueSize(!isTrueSize)}
        >
          {t('true_size')}
        </Button>
      </Group>
      <SimpleGrid cols={shown.length > 1 ? 2 : 1}>
        {shown.map((i) => (
          <section
            key={links[i]}
            tabIndex={0}
            aria-label={t('picture_of', { n: i + 1, all: count })}
            style={{ overflow: 'auto', maxHeight: 'calc(100vh - 150px)' }}
          >
            <img
              src={links[i]}
              alt={t('picture_of', { n: i + 1, all: count })}
              style={
                isTrueSize
                  ? { maxWidth: 'none' }
                  : {
                      display: 'block',
                      margin: 'auto',
                      maxWidth: '100%',
                      maxHeight: 'calc(100vh - 160px)',
                    }
              }
            />
          </section>
        ))}
      </SimpleGrid>
    </Modal>
  )
}
