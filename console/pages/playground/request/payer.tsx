// Who pays for a call and whose token it carries; the same on every tab.
import { Select, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import type { Page } from '../../../lib/api.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useSession } from '../../../lib/session.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from '../messages.ts'
import { type Credential, CredentialField, useCredential } from './credential.tsx'

export interface Payer {
  accounts: readonly string[]
  account: string | null
  setAccount: (account: string | null) => void
  credential: Credential
  isReady: boolean
  /** Creates a token when there is none that is good for that long. */
  secret: (neededMs?: number) => Promise<string>
}

export function usePayer(): Payer {
  const session = useSession()
  const [chosen, setAccount] = useState<string | null>(null)
  const { data } = useResource<Page<{ name: string }>>('/accounts', { query: { limit: 500 } })
  const names = data?.items.map(({ name }) => name) ?? []
  const accounts = session.account === null ? names : [session.account]
  const account = chosen ?? accounts[0] ?? null
  const credential = useCredential(account)
  return {
    ...{ accounts, account, setAccount, credential },
    isReady: account !== null && credential.isReady,
    secret: (neededMs) => credential.secretFor(account ?? '', neededMs),
  }
}

export function PayerFields({ payer, cols = 2 }: { payer: Payer; cols?: 1 | 2 }) {
  const t = useMessages(messages)
  return (
    <SimpleGrid cols={{ base: 1, xs: cols }}>
      <Select
        label={t('paid_by')}
        data={payer.accounts}
        value={payer.account}
        allowDeselect={false}
        classNames={{ input: privateClass }}
        onChange={payer.setAccount}
      />
      <CredentialField sender={payer.credential} />
    </SimpleGrid>
  )
}
