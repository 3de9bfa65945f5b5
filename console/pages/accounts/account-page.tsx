// One account on a page of its own: its money, budgets and settings, its tokens, people and bills, what
// happened to it, and what can be done with it.
import { Alert, Button, Stack, Tabs, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import type { Alert as OpenAlert } from '../../../src/admin/system/system-schema.ts'
import { Credit } from '../../components/billing/credit.tsx'
import { ErrorAlert, Page as Frame } from '../../components/page.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { FormModal, Invite } from '../people/forms.tsx'
import { CreateToken } from '../tokens/create.tsx'
import { AccountBills, AccountPeople, AccountTokens } from './lists.tsx'
import { messages } from './messages.ts'
import { AccountProfile } from './profile.tsx'
import { EditSettings } from './settings.tsx'
import { AccountSummary } from './summary.tsx'
import { Timeline } from './timeline.tsx'

type Doing = 'credit' | 'edit' | 'token' | 'invite'

export function AccountPage({ name }: { name: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { data: account, error } = useResource<Account>(`/accounts/${encodeURIComponent(name)}`)
  const queryClient = useQueryClient()
  const [doing, setDoing] = useState<Doing>()
  const changed = () => void queryClient.invalidateQueries()
  const close = () => setDoing(undefined)
  return (
    <>
      <Link to="/accounts">{t('all_accounts')}</Link>
      <Frame
        title={account?.display_name ?? name}
        hint={
          account === undefined
            ? name
            : t('since', { name: account.name, when: format.day(account.created_at) })
        }
        actions={account !== undefined && <Actions onDo={setDoing} />}
      >
        <ErrorAlert error={error} />
        {account !== undefined && (
          <>
            <OpenAccount account={account} onChanged={changed} />
            {doing === 'credit' && (
              <Credit account={account.name} onClose={close} onDone={changed} />
            )}
            {doing === 'edit' && (
              <EditSettings account={account} onClose={close} onDone={changed} />
            )}
            {doing === 'invite' && (
              <FormModal title={t('invite')} onClose={close}>
                <Invite
                  account={account.name}
                  address={account.email ?? ''}
                  onClose={close}
                  onDone={changed}
                />
              </FormModal>
            )}
            <CreateToken
              account={account.name}
              isOpen={doing === 'token'}
              onClose={close}
              onDone={changed}
            />
          </>
        )}
      </Frame>
    </>
  )
}

function Actions({ onDo }: { onDo: (what: Doing) => void }) {
  const t = useMessages(messages)
  const session = useSession()
  const isOperator = hasRole(session, ['operator'])
  const all: readonly (readonly [Doing, string, boolean])[] = [
    ['invite', t('invite'), session.role === 'administrator'],
    ['edit', t('edit'), isOperator],
    ['token', t('new_token'), isOperator],
    ['credit', t('credit'), hasRole(session, ['finance'])],
  ]
  const shown = all.filter(([, , isShown]) => isShown)
  return shown.map(([what, label], i) => (
    <Button
      key={what}
      variant={i === shown.length - 1 ? 'filled' : 'default'}
      onClick={() => onDo(what)}
    >
      {label}
    </Button>
  ))
}

function OpenAccount({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const t = useMessages(messages)
  const session = useSession()
  const [tab = 'figures', setTab] = useQueryValue('tab')
  const tabs = [
    ['figures', true],
    ['profile', true],
    ['tokens', hasRole(session, ['operator'])],
    ['people', session.role === 'administrator'],
    ['bills', hasRole(session, ['finance'])],
    ['timeline', true],
  ] as const
  const shown = tabs.filter(([, isShown]) => isShown).map(([name]) => name)
  const { name } = account
  return (
    <Stack>
      {account.suspended_since !== undefined && (
        <Suspended account={account} onChanged={onChanged} />
      )}
      <Tabs
        value={shown.find((each) => each === tab) ?? 'figures'}
        onChange={(next) => setTab(next === 'figures' ? undefined : (next ?? undefined), 'replace')}
        keepMounted={false}
      >
        <Tabs.List>
          {shown.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(each)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="figures" pt="md">
          <AccountSummary account={account} />
        </Tabs.Panel>
        <Tabs.Panel value="profile" pt="md" maw={640}>
          <AccountProfile account={account} onChanged={onChanged} />
        </Tabs.Panel>
        <Tabs.Panel value="tokens" pt="md">
          <AccountTokens account={name} />
        </Tabs.Panel>
        <Tabs.Panel value="people" pt="md">
          <AccountPeople account={name} />
        </Tabs.Panel>
        <Tabs.Panel value="bills" pt="md">
          <AccountBills account={name} />
        </Tabs.Panel>
        <Tabs.Panel value="timeline" pt="md" maw={640}>
          <Timeline account={account} shown={100} />
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
