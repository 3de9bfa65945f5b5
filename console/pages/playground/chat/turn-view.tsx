// One turn of a conversation: what was said, with which images; calls of functions; and of an answer its
// time, its cost and the way to its request.
import { Alert, Button, Code, Collapse, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { messages } from '../messages.ts'
import { Busy } from '../result/busy.tsx'
import { Exchange } from '../result/exchange.tsx'
import { Figures } from '../result/figures.tsx'
import type { ToolCall, Turn } from './conversation.ts'
import type { Report } from './use-lane.ts'

interface TurnProps {
  turn: Turn
  report: Report | undefined
  isBusy: boolean
  /** To say it again, in other words. */
  onEdit?: (() => void) | undefined
  onAgain?: (() => void) | undefined
}

export function TurnView({ turn, report, isBusy, onEdit, onAgain }: TurnProps) {
  const t = useMessages(messages)
  if (turn.role === 'user') {
    return (
      <Bubble of="user" title={t('user')} action={onEdit && [t('edit'), onEdit]}>
        <Prose text={turn.text} />
        <Images addresses={turn.images} />
      </Bubble>
    )
  }
  if (turn.role === 'tool') {
    return (
      <Bubble of="tool" title={t('tool')}>
        {turn.answers.map(({ id, name, text }) => (
          <CallBox key={id} title={name} text={text} />
        ))}
      </Bubble>
    )
  }
  const isEmpty = turn.text === '' && turn.thinking === '' && turn.calls.length === 0
  return (
    <Bubble
      of="assistant"
      title={turn.model ?? t('assistant')}
      action={onAgain && [t('again'), onAgain]}
    >
      {turn.thinking !== '' && <Thinking text={turn.thinking} />}
      <Prose text={turn.text} isLive={isBusy} />
      {turn.calls.map((call) => (
        <CallBox key={call.id} title={call.name} text={pretty(call)} />
      ))}
      {isBusy && isEmpty && report?.error === undefined && <Busy />}
      {report !== undefined && <ReportView report={report} isBusy={isBusy} />}
    </Bubble>
  )
}

function pretty({ arguments: given }: ToolCall): string {
  try {
    return JSON.stringify(JSON.parse(given), null, 2)
  } catch {
    return given
  }
}

function Bubble({
  of,
  title,
  action,
  children,
}: {
  of: Turn['role']
  title: string
  action?: readonly [name: string, run: () => void] | undefined
  children: ReactNode
}) {
  return (
    <article className="turn" data-role={of} aria-label={title}>
      <Group justify="space-between" gap="xs" mih={22}>
        <Text size="xs" c="dimmed" fw={500}>
          {title}
        </Text>
        {action !== undefined && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={action[1]}>
            {action[0]}
          </Button>
        )}
      </Group>
      <Stack gap="xs">{children}</Stack>
    </article>
  )
}

const Prose = ({ text, isLive = false }: { text: string; isLive?: boolean }) =>
  text === '' ? null : (
    <Text
      className={privateClass}
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      {...(isLive && { 'aria-live': 'polite' })}
    >
      {text}
    </Text>
  )

function Thinking({ text }: { text: string }) {
  const t = useMessages(messages)
  return (
    <details>
      <summary className="quiet-summary">{t('thinking')}</summary>
      <Text size="sm" c="dimmed" className={privateClass} style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
    </details>
  )
}

/** Others than data addresses are not loaded: that would tell another server who looks at them. */
export function Images({
  addresses,
  onRemove,
}: {
  addresses: readonly string[]
  onRemove?: (at: number) => void
}) {
  const t = useMessages(messages)
  if (addresses.length === 0) return null
  return (
    <Group gap="xs">
      {addresses.map((address, at) => (
        <div key={address} className="thumb">
          {address.startsWith('data:') ? (
            <img src={address} alt={t('image_number', { n: at + 1 })} />
          ) : (
            <Text size="xs" truncate maw={220} title={address}>
              {address}
            </Text>
          )}
          {onRemove !== undefined && (
            <Button size="compact-xs" variant="default" onClick={() => onRemove(at)}>
              {t('remove_image', { n: at + 1 })}
            </Button>
          )}
        </div>
      ))}
    </Group>
  )
}

const CallBox = ({ title, text }: { title: string; text: string }) => (
  <div className="call">
    <Text size="sm" fw={500}>
      {title}
    </Text>
    <Code block tabIndex={0} className={privateClass} aria-label={title}>
      {text}
    </Code>
  </div>
)

function ReportView({ report, isBusy }: { report: Report; isBusy: boolean }) {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  const { outcome, error, isStopped } = report
  return (
    <>
      {error !== undefined && (
        <Alert color="red" role="alert">
          {error}
        </Alert>
      )}
      {isStopped && (
        <Text size="xs" c="dimmed" role="status">
          {t('stopped')}
        </Text>
      )}
      {outcome !== undefined && !isBusy && (
        <>
          <Group gap="xs">
            <Figures attempt={report} outcome={outcome} />
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {t('details')}
            </Button>
          </Group>
          <Collapse expanded={isOpen}>{isOpen && <Exchange outcome={outcome} />}</Collapse>
        </>
      )}
    </>
  )
}
