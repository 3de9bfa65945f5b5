// Sends or stops a call, and says what it is going to cost.
import { Button, Group, Text, Tooltip } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { useSession } from '../../../lib/session.ts'
import { useShortcuts } from '../../../lib/shortcuts.ts'
import { messages } from '../messages.ts'
import { estimateFor } from './estimate.ts'
import { usePrice } from './options.ts'

/** As the sandbox names its channel. */
export const sandboxChannel = 'sandbox'

/** A field that opens with Enter would take it for its own. */
export const onModEnter = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
  event.preventDefault()
  event.stopPropagation()
  send()
}

const modKey = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘' : 'Ctrl '

interface SendRowProps {
  /** The body as it would go out. */
  text: string
  /** Who pays for which model. */
  callers: readonly { account: string | null; model: string | null }[]
  isBusy: boolean
  isReady: boolean
  onSend: () => void
  onStop: () => void
  children?: ReactNode
}

export function SendRow(props: SendRowProps) {
  const t = useMessages(messages)
  const { text, callers, isBusy, isReady, onSend, onStop } = props
  useShortcuts({ 'mod+enter': onSend, ...(isBusy && { Escape: onStop }) })
  return (
    <Group className="send-row">
      {isBusy ? (
        <Button color="red" variant="light" onClick={onStop}>
          {t('stop')} Esc
        </Button>
      ) : (
        <Button onClick={onSend} disabled={!isReady}>
          {t('send')}
          {/* A phone has no such keys. */}
          <Text span inherit visibleFrom="sm" style={{ whiteSpace: 'pre' }}>
            {` ${modKey}↵`}
          </Text>
        </Button>
      )}
      <Estimate text={text} callers={callers} />
      {props.children}
    </Group>
  )
}

function Estimate({ text, callers }: Pick<SendRowProps, 'text' | 'callers'>) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const [first, second] = callers
  const prices = [
    usePrice(first?.account ?? null, first?.model ?? null),
    usePrice(second?.account ?? null, second?.model ?? null),
  ]
  const estimates = prices
    .map((price) => estimateFor(price, text))
    .filter((each) => each !== undefined)
    .map((each) => format.cost(each, currency))
  if (estimates.length === 0) return null
  return (
    <Tooltip label={t('about_hint')}>
      <Text size="sm" c="dimmed">
        {t('about', { amount: estimates.join(' + ') })}
      </Text>
    </Tooltip>
  )
}
