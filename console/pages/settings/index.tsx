// The settings: effective configuration, retention, callback secrets, backup, and the own password.

import { Alert, Button, PasswordInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import type { Settings } from '../../../src/admin/system/system-schema.ts'
import { PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert, Page, Panel } from '../../components/page.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { Callbacks } from './callbacks.tsx'
import { ConfigYaml } from './config-yaml.tsx'
import { Issuer } from './issuer.tsx'
import { messages } from './messages.ts'
import { TimeZone } from './time-zone.tsx'

export default function SettingsPage() {
  const t = useMessages(messages)
  const session = useSession()
  const { role } = session
  const isAdministrator = role === 'administrator'
  const { data, error } = useResource<Settings>('/settings', { enabled: isAdministrator })
  return (
    <Page title={t('title')} {...(isStaff(session) && { hint: t('hint') })}>
      <ErrorAlert error={error} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {data !== undefined && <General settings={data} />}
        {data !== undefined && <Retention settings={data} />}
        {role !== 'finance' && <Callbacks />}
        {isAdministrator && <Backup />}
        {isStaff(session) && <Issuer />}
        <TimeZone />
        <Password />
      </SimpleGrid>
      {data !== undefined && <ConfigYaml yaml={data.yaml} />}
    </Page>
  )
}

function General({ settings }: { settings: Settings }) {
  const t = useMessages(messages)
  return (
    <Panel title={t('general')}>
      <PropertyList
        rows={[
          [t('public_url'), settings.public_url],
          [t('region'), settings.region],
          [t('currency'), settings.currency],
        ]}
      />
    </Panel>
  )
}

function Retention({ settings: { retention } }: { settings: Settings }) {
  const t = useMessages(messages)
  const { request_log_days, results_days } = retention
  return (
    <Panel title={t('retention')}>
      <PropertyList
        rows={[
          [t('retention_log'), t('days', { n: request_log_days })],
          [
            t('retention_results'),
            results_days === null ? t('not_stored') : t('days', { n: results_days }),
          ],
          [t('retention_ledger'), t('for_good')],
        ]}
      />
    </Panel>
  )
}

function Backup() {
  const t = useMessages(messages)
  return (
    <Panel title={t('backup')}>
      <Stack>
        <Text size="sm">{t('backup_hint')}</Text>
        <Button component="a" href="/admin/v1/backup" download variant="default">
          {t('take_backup')}
        </Button>
      </Stack>
    </Panel>
  )
}

function Password() {
  const t = useMessages(messages)
  const [given, setGiven] = useState({ old: '', password: '' })
  const { error, run } = useAction()
  const [isDone, setDone] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setDone(false)
    const done = await run(() => api('POST', '/session/password', { body: given }))
    if (done) setGiven({ old: '', password: '' })
    setDone(done)
  }
  return (
    <Panel title={t('password')}>
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            label={t('old')}
            autoComplete="current-password"
            required
            value={given.old}
            onChange={(event) => setGiven({ ...given, old: event.currentTarget.value })}
          />
          <PasswordInput
            label={t('new')}
            autoComplete="new-password"
            required
            value={given.password}
            onChange={(event) => setGiven({ ...given, password: event.currentTarget.value })}
          />
          <ErrorAlert error={error} />
          {isDone && <Alert color="teal">{t('changed')}</Alert>}
          <Button type="submit">{t('change')}</Button>
        </Stack>
      </form>
    </Panel>
  )
}
