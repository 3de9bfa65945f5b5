// Sends one closed bill to its account, also one that was sent before.
import { Alert, Button } from '@mantine/core'
import { useState } from 'react'
import type { SentBill } from '../../../src/admin/closing/closing-schema.ts'
import { Confirm } from '../../components/confirm.tsx'
import { api } from '../../lib/api.ts'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

export function SendOne({ account, month }: { account: string; month: string }) {
  const t = useMessages(messages)
  const lang = useLanguage()
  const server = useServerText()
  const [isAsking, setAsking] = useState(false)
  const [done, setDone] = useState<SentBill>()
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {t('send_one')}
      </Button>
      {done !== undefined && (
        <Alert color={done.sent ? 'teal' : 'orange'} role="status" py={6}>
          <span className={privateClass}>
            {done.sent ? t('emailed', { email: done.email }) : server.sentence(done.reason ?? '')}
          </span>
        </Alert>
      )}
      <Confirm
        title={t('send_one')}
        text={t('send_one_text', { account, month })}
        action={t('send_one')}
        keep={t('do_not_send')}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          setDone(await api<SentBill>('POST', '/bills/send', { body: { account, month, lang } }))
        }}
      />
    </>
  )
}
