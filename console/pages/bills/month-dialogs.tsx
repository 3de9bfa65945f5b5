// What is done with the bills of a month, on the page of bills and on that of the month: closing all, taking them along
// as files and sending them. The outcome of closing leads on to the other two.
import { Button } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { queryString } from '../../lib/api.ts'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { CloseAll } from './close-all.tsx'
import { messages } from './messages.ts'
import { SendAll } from './send-all.tsx'

export type MonthDialog = 'closing' | 'sending'

interface Props {
  month: string
  /** How many accounts have the month. */
  accounts: number
  opened: MonthDialog | undefined
  onOpen: (dialog: MonthDialog | undefined) => void
  onChanged: () => void
}

export function MonthDialogs({ month, accounts, opened, onOpen, onChanged }: Props) {
  const t = useMessages(messages)
  const dialog = { month, onChanged, onClose: () => onOpen(undefined) }
  return (
    <>
      <CloseAll
        {...dialog}
        accounts={accounts}
        isOpen={opened === 'closing'}
        next={
          <>
            <ArchiveButton month={month} />
            <Button onClick={() => onOpen('sending')}>{t('send_all')}</Button>
          </>
        }
      />
      <SendAll {...dialog} isOpen={opened === 'sending'} />
    </>
  )
}

export function ArchiveButton({ month, size = 'sm' }: { month: string; size?: 'xs' | 'sm' }) {
  const t = useMessages(messages)
  const lang = useLanguage()
  return (
    <Button
      component="a"
      variant="default"
      size={size}
      leftSection={<Icon name="download" size={16} />}
      href={`/admin/v1/bills/archive${queryString({ month, lang })}`}
      download
    >
      {t('archive')}
    </Button>
  )
}
