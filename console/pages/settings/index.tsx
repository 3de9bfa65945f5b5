// What the gateway runs with: the settings in force, how long things are kept, how callbacks are signed,
// the configuration as YAML, and one's own password.
import { Alert, Button, PasswordInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/sheet.tsx'
import { Callbacks } from './callbacks.tsx'
import { ConfigYaml } from './config-yaml.tsx'
import { words } from './words.ts'

interface Settings {
  public_url: string
  region: string
  currency: string
  retention: { request_log_days: number; results_days: number | null }
  yaml: { file: string; effective: string }
}

export default function SettingsPage() {
  const say = useWords(words)
  const { role } = useSession()
  const isAdministrator = role === 'administrator'
  const { data, error } = useQuery({
    queryKey: ['settings'],
    queryFn: () => ask<Settings>('GET', '/settings'),
    enabled: isAdministrator,
  })
  return (
    <Page title={say('title')} hint={say('hint')}>
      <ErrorNote error={error} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {data !== undefined && <General settings={data} />}
        {data !== undefined && <Retention settings={data} />}
        {role !== 'finance' && <Callbacks />}
        {isAdministrator && <Backup />}
        <Password />
      </SimpleGrid>
      {data !== undefined && <ConfigYaml yaml={data.yaml} />}
    </Page>
  )
}

function General({ settings }: { settings: Settings }) {
  const say = useWords(words)
  return (
    <Panel title={say('general')}>
      <Facts
        rows={[
          [say('public_url'), settings.public_url],
          [say('region'), settings.region],
          [say('currency'), settings.currency],
        ]}
      />
    </Panel>
  )
}

function Retention({ settings: { retention } }: { settings: Settings }) {
  const say = useWords(words)
  const { request_log_days, results_days } = retention
  return (
    <Panel title={say('retention')}>
      <Facts
        rows={[
          [say('kept_log'), say('days', { n: request_log_days })],
          [
            say('kept_results'),
            results_days === null ? say('not_kept') : say('days', { n: results_days }),
          ],
          [say('kept_ledger'), say('for_good')],
        ]}
      />
    </Panel>
  )
}

function Backup() {
  const say = useWords(words)
  return (
    <Panel title={say('backup')}>
      <Stack>
        <Text size="sm">{say('backup_hint')}</Text>
        <Button component="a" href="/admin/v1/backup" download variant="default">
          {say('take_backup')}
        </Button>
      </Stack>
    </Panel>
  )
}

function Password() {
  const say = useWords(words)
  const [given, setGiven] = useState({ old: '', password: '' })
  const { error, run } = useAction()
  const [isDone, setDone] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setDone(false)
    const done = await run(() => ask('POST', '/session/password', { body: given }))
    if (done) setGiven({ old: '', password: '' })
    setDone(done)
  }
  return (
    <Panel title={say('password')}>
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            label={say('old')}
            autoComplete="current-password"
            required
            value={given.old}
            onChange={(event) => setGiven({ ...given, old: event.currentTarget.value })}
          />
          <PasswordInput
            label={say('new')}
            autoComplete="new-password"
            required
            value={given.password}
            onChange={(event) => setGiven({ ...given, password: event.currentTarget.value })}
          />
          <ErrorNote error={error} />
          {isDone && <Alert color="teal">{say('changed')}</Alert>}
          <Button type="submit">{say('change')}</Button>
        </Stack>
      </form>
    </Panel>
  )
}
