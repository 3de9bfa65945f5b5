// The secret that signs callbacks, and a test callback to a receiver.

import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import type {
  CallbackSecret as Secret,
  CallbackTest as Tried,
} from '../../../src/admin/tasks/task-schema.ts'
import { CopyBlock } from '../../components/copy.tsx'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { ErrorAlert, Panel } from '../../components/page.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

/** The secret is loaded on request, and forgotten with the page. */
export function Callbacks() {
  const t = useMessages(messages)
  const session = useSession()
  const [named, setNamed] = useState<string>()
  const [given, setGiven] = useState<Secret>()
  const { error, isBusy, run } = useAction()
  const account = session.account ?? named ?? ''
  const path = `/accounts/${encodeURIComponent(account)}/callback-secret`
  const show = () =>
    run(async () => setGiven(await api('GET', account === '' ? '/callback-secret' : path)))
  const rotate = () =>
    run(async () => {
      const of = `/accounts/${encodeURIComponent(given?.account ?? account)}/callback-secret/rotate`
      setGiven(await api('POST', of))
    })
  return (
    <Panel title={t('callbacks')}>
      <Stack>
        <Text size="sm">{t('callbacks_hint')}</Text>
        {session.account === null && (
          <AccountSelect
            value={named}
            onChange={(name) => {
              setNamed(name)
              setGiven(undefined)
            }}
          />
        )}
        {given === undefined ? (
          <Button variant="default" loading={isBusy} onClick={show}>
            {t('show_secret')}
          </Button>
        ) : (
          <Text size="sm">
            {t(given.source === 'file' ? 'file_secret' : 'own_secret', { name: given.account })}
          </Text>
        )}
        {given?.secret != null && (
          <>
            <div className="private">
              <CopyBlock text={given.secret} label={t('secret')} />
            </div>
            {given.previous_valid_until !== null && (
              <Text size="sm">
                {t('old_secret')} <Time at={given.previous_valid_until} />
              </Text>
            )}
            <Button variant="default" loading={isBusy} onClick={rotate}>
              {t('rotate_secret')}
            </Button>
          </>
        )}
        <ErrorAlert error={error} />
        {session.role === 'administrator' && <Trial account={account} />}
      </Stack>
    </Panel>
  )
}

function Trial({ account }: { account: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const [url, setUrl] = useState('')
  const [tried, setTried] = useState<Tried>()
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setTried(undefined)
    const body = { url, ...(account !== '' && { account }) }
    void run(async () => setTried(await api('POST', '/callbacks/test', { body })))
  }
  const why = tried?.error ?? t('try_status', { status: tried?.status ?? 0 })
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            label={t('try_url')}
            type="url"
            required
            placeholder="https://receiver.example/hook"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={isBusy}>
            {t('try_send')}
          </Button>
        </Group>
        <div role="status">
          {tried !== undefined && (
            <Alert color={tried.ok ? 'teal' : 'orange'}>
              {tried.ok
                ? t('try_good', { status: tried.status ?? 0, ms: format.ms(tried.took_ms) })
                : t('try_bad', { why })}
            </Alert>
          )}
        </div>
        <ErrorAlert error={error} />
      </Stack>
    </form>
  )
}
