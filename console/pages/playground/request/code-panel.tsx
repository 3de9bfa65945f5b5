// The request as code. The token is put in only while a person has it shown.
import { Stack, Switch } from '@mantine/core'
import { useState } from 'react'
import { CodeTabs } from '../../../components/code-tabs.tsx'
import type { Snippet } from '../../../lib/client-snippets.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useAction } from '../../../lib/use-action.ts'
import { messages } from '../messages.ts'
import { noToken } from './code.ts'
import type { Payer } from './payer.tsx'

export function CodePanel({
  payer,
  snippets,
}: {
  payer: Payer
  snippets: (token: string) => Snippet[]
}) {
  const t = useMessages(messages)
  const [shown, setShown] = useState<{ account: string | null; secret: string }>()
  const { isBusy, run } = useAction()
  const { account } = payer
  // Nothing else could be put into a line of code.
  const secret =
    shown?.account === account && /^[\w.-]+$/.test(shown?.secret ?? '') ? shown?.secret : undefined
  const show = () => run(async () => setShown({ account, secret: await payer.secret() }))
  return (
    <Stack gap="xs">
      <Switch
        label={t('with_token')}
        description={t('with_token_note')}
        checked={secret !== undefined}
        disabled={isBusy || !payer.isReady}
        onChange={(event) => (event.currentTarget.checked ? void show() : setShown(undefined))}
      />
      <div className={secret === undefined ? undefined : privateClass}>
        <CodeTabs snippets={snippets(secret ?? noToken)} />
      </div>
    </Stack>
  )
}
