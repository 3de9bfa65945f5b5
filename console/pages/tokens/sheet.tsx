// One token: what it may do, how to connect an application with it, and its end.
import { Button, Stack, Tabs, Text } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { CopyBlock, CopyId } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { snippets } from './snippets.ts'
import type { Token } from './token.ts'
import { words } from './words.ts'

export function TokenSheet({
  token,
  onClose,
  onChanged,
}: {
  token: Token | undefined
  onClose: () => void
  onChanged: () => void
}) {
  const say = useWords(words)
  const shared = useWords(common)
  const [isRevoking, setRevoking] = useState(false)
  const [error, setError] = useState<Error>()
  if (token === undefined) return null
  const isOurs = token.source === 'api'
  const toggle = async () => {
    setError(undefined)
    try {
      await ask('PATCH', `/tokens/${token.id}`, { body: { disabled: !token.disabled } })
      onChanged()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  const revoke = async () => {
    await ask('DELETE', `/tokens/${token.id}`)
    onChanged()
    onClose()
  }
  return (
    <Sheet
      title={token.name}
      isOpen
      onClose={onClose}
      actions={
        isOurs && (
          <>
            <Button variant="default" onClick={toggle}>
              {say(token.disabled ? 'enable' : 'disable')}
            </Button>
            <Button color="red" variant="light" onClick={() => setRevoking(true)}>
              {say('revoke')}
            </Button>
          </>
        )
      }
    >
      <Stack>
        <ErrorNote error={error} />
        {!isOurs && (
          <Text size="sm" c="dimmed">
            {say('from_file')}
          </Text>
        )}
        <Facts
          rows={[
            ['ID', <CopyId key="id" id={token.id} most={40} />],
            [shared('account'), token.account],
            [say('prefix'), `${token.prefix}…`],
            [say('models'), token.models.join(', ')],
            [say('rpm'), token.limits.rpm],
            [say('tpm'), token.limits.tpm],
            [say('concurrency'), token.limits.concurrency],
            [
              say('expires'),
              token.expires_at === null ? say('never') : <Time at={token.expires_at} />,
            ],
            [say('created'), <Time key="at" at={token.created_at} />],
            [say('source'), token.source],
          ]}
        />
        <Text fw={600}>{say('connect')}</Text>
        <Text size="sm" c="dimmed">
          {say('connect_hint')}
        </Text>
        <Connect />
      </Stack>
      <ConfirmByName
        name={token.name}
        title={say('revoke')}
        text={say('revoke_text')}
        action={say('revoke')}
        isOpen={isRevoking}
        onClose={() => setRevoking(false)}
        onConfirm={revoke}
      />
    </Sheet>
  )
}

function Connect() {
  const { public_url } = useSession()
  const ready = snippets(public_url)
  return (
    <Tabs defaultValue={ready[0]!.name}>
      <Tabs.List>
        {ready.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {ready.map(({ name, code }) => (
        <Tabs.Panel key={name} value={name} pt="xs">
          <CopyBlock text={code} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
