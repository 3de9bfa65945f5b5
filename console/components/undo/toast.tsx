// What was just done, at the foot of the page, with a button and a key that undo it. It stays for 8 s, and longer while it has
// the pointer or the focus.
import { ActionIcon, Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { useAction } from '../../lib/use-action.ts'
import { Icon } from '../icon.tsx'
import { ErrorAlert } from '../page.tsx'
import { forgetOffer, useOffer } from './offer.ts'

const messages = defineMessages({
  undo: ['Undo', '撤销'],
  last_action: ['Last action', '最近的操作'],
})

const shownMs = 8_000

export function UndoToast() {
  const offer = useOffer()
  return offer === undefined ? null : <Toast key={offer.text} offer={offer} />
}

function Toast({ offer }: { offer: NonNullable<ReturnType<typeof useOffer>> }) {
  const t = useMessages(messages)
  const queryClient = useQueryClient()
  const { error, isBusy, run } = useAction()
  const [isHeld, setHeld] = useState(false)
  const { text, undo } = offer
  const isWaiting = !isHeld && !isBusy && error === undefined
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => forgetOffer(offer), shownMs)
    return () => clearTimeout(timer)
  }, [offer, isWaiting])
  const back = async () => {
    if (undo === undefined || isBusy) return
    if (await run(undo)) forgetOffer(offer)
    await queryClient.invalidateQueries()
  }
  useShortcuts(undo === undefined ? {} : { u: () => void back() })
  return (
    <section
      className="toast"
      aria-label={t('last_action')}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span role="status">{text}</span>
      <ErrorAlert error={error} />
      {undo !== undefined && (
        <Button size="xs" variant="default" loading={isBusy} aria-keyshortcuts="u" onClick={back}>
          {t('undo')}&nbsp;<kbd>u</kbd>
        </Button>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('close')}
        onClick={() => forgetOffer(offer)}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
    </section>
  )
}
