// An ID or a text with a copy button.
import { ActionIcon, Button, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { useMessages } from '../lib/messages.ts'
import { Icon } from './icon.tsx'
import { None } from './values.tsx'

/** Long ids show both ends. */
const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 7)}…${text.slice(-6)}`

export function CopyId({ id, max = 24 }: { id: string | null | undefined; max?: number }) {
  const t = useMessages()
  if (id === null || id === undefined || id === '') return <None />
  return (
    <Group gap={4} wrap="nowrap" component="span" style={{ display: 'inline-flex' }}>
      <Code title={id}>{shortened(id, max)}</Code>
      <CopyIcon text={id} label={t('copy')} />
    </Group>
  )
}

/** Copies a text that is not shown itself, or stands beside it. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const t = useMessages()
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('copied') : label}>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={`${t('copy')} ${text}`}
            onClick={(event) => {
              event.stopPropagation()
              copy()
            }}
          >
            <Icon name={copied ? 'check' : 'copy'} size={14} />
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

/** A block of code with a button over it. */
export function CopyBlock({ text, label }: { text: string; label?: string }) {
  const t = useMessages()
  return (
    <div className="copy-block" style={{ position: 'relative' }}>
      <Code block tabIndex={0} aria-label={label} style={{ maxHeight: 420, overflow: 'auto' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            size="compact-xs"
            variant="default"
            onClick={copy}
            style={{ position: 'absolute', top: 6, right: 6 }}
          >
            {t(copied ? 'copied' : 'copy')}
          </Button>
        )}
      </CopyButton>
    </div>
  )
}
