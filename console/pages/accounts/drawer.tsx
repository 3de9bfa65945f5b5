// One account: its money, budgets and settings, its tokens, people and bills, and what can be done with it.
import { Alert, Button, Stack, Tabs, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import type { Alert as OpenAlert } from '../../../src/admin/system/system-schema.ts'
import { Credit } from '../../components/billing/credit.tsx'
import { DetailsDrawer } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { Link } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { CreateToken } from '../tokens/create.tsx'
import { AccountFigures } from './figures.tsx'
import { AccountBills, AccountPeople, AccountTokens } from './lists.tsx'
import { messages } from './messages.ts'
import { AccountProfile } from './profile.tsx'
import { EditSettings } from './settings.tsx'

type Doing = 'credit' | 'edit' | 'token'

export function AccountDrawer({
  name,
  onClose,
  onChanged,
}: {
  name: string | undefined
  onClose: () => void
  onChanged: () => void
}) {
  const { data: account, error } = useResource<Account>(`/accounts/${encodeURIComponent(name!)}`, {
    enabled: name !== undefined,
  })
  const queryClient = useQueryClient()
  const [doing, setDoing] = useState<Doing>()
  const changed = () => {
    void queryClient.invalidateQueries()
    onChanged()
  }
  return (
    <DetailsDrawer
      title={
        <span className={privateClass}>
          {account?.display_name == null ? name : `${account.display_name} · ${name}`}
        </span>
      }
      isOpen={name !== undefined}
      onClose={onClose}
      isLocked={doing !== undefined}
      actions={account !== undefined && <Actions onDo={setDoing} />}
    >
      <ErrorAlert error={error} />
      {account !== undefined && (
        <>
          <OpenAccount account={account} onChanged={changed} />
          {doing === 'credit' && (
            <Credit account={account.name} onClose={() => setDoing(undefined)} onDone={changed} />
          )}
          {doing === 'edit' && (
            <EditSettings account={account} onClose={() => setDoing(undefined)} onDone={changed} />
          )}
          <CreateToken
            account={account.name}
            isOpen={doing === 'token'}
            onClose={() => setDoing(undefined)}
            onDone={changed}
          />
        </>
      )}
    </DetailsDrawer>
  )
}

function Actions({ onDo }: { onDo: (what: Doing) => void }) {
  const t = useMessages(messages)
  const session = useSession()
  return (
    <>
      {hasRole(session, ['finance']) && (
        <Button onClick={() => onDo('credit')}>{t('credit')}</Button>
      )}
      {hasRole(session, ['operator']) && (
        <>
          <Button variant="default" onClick={() => onDo('edit')}>
            {t('edit')}
          </Button>
          <Button variant="default" onClick={() => onDo('token')}>
            {t('new_token')}
          </Button>
        </>
      )}
    </>
  )
}

function OpenAccount({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const t = useMessages(messages)
  const session = useSession()
  const tabs = [
    ['figures', true],
    ['profile', true],
    ['tokens', hasRole(session, ['operator'])],
    ['people', session.role === 'administrator'],
    ['bills', hasRole(session, ['finance'])],
  ] as const
  return (
    <Stack>
      {account.suspended_since !== undefined && (
        <Suspended account={account} onChanged={onChanged} />
      )}
      <Tabs defaultValue="figures" keepMounted={false}>
        <Tabs.List>
          {tabs.map(([tab, isShown]) =>
            isShown ? (
              <Tabs.Tab key={tab} value={tab}>
                {t(tab)}
              </Tabs.Tab>
            ) : null,
          )}
        </Tabs.List>
        <Tabs.Panel value="figures" pt="sm">
          <AccountFigures account={account} />
        </Tabs.Panel>
        <Tabs.Panel value="profile" pt="sm">
          <AccountProfile account={account} onChanged={onChanged} />
        </Tabs.Panel>
        <Tabs.Panel value="tokens" pt="sm">
          <AccountTokens account={account.name} />
        </Tabs.Panel>
        <Tabs.Panel value="people" pt="sm">
          <AccountPeople account={account.name} />
        </Tabs.Panel>
        <Tabs.Panel value="bills" pt="sm">
          <AccountBills account={account.name} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

/** Resolving its alert verifies the ledger, and resumes the account where it adds up. */
function Suspended({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { role } = useSession()
  const { error, isBusy, run } = useAction()
  const { data } = useResource<Page<OpenAlert>>('/alerts', { query: { kind: 'books', limit: 500 } })
  const alert = data?.items.find(({ subject }) => subject === account.id)
  const resume = () =>
    run(async () => {
      await api('POST', `/alerts/${alert!.id}/resolve`)
      onChanged()
    })
  return (
    <Alert color="red" title={t('suspended')}>
      <Stack gap="xs" align="start">
        <Text size="sm">{t('suspended_text', { time: format.time(account.suspended_since) })}</Text>
        <ErrorAlert error={error} />
        {role === 'administrator' && alert !== undefined && (
          <Button size="xs" color="red" loading={isBusy} onClick={resume}>
            {t('resume')}
          </Button>
        )}
        <Link to="/alerts">{t('alerts')}</Link>
      </Stack>
    </Alert>
  )
}
