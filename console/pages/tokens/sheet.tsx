// One token: what it may do and has spent, how to connect an application with it, a new secret, its end.
import { Button, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask, type Page } from '../../lib/api.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Spark } from '../../parts/chart.tsx'
import { CodeTabs } from '../../parts/code-tabs.tsx'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { CopyId } from '../../parts/copy.tsx'
import { ErrorNote, SectionTitle } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { pageWords } from '../index.ts'
import { RotateToken } from './create.tsx'
import { TokenForm } from './form.tsx'
import { snippets } from './snippets.ts'
import { dailySpend, type Token } from './token.ts'
import { words } from './words.ts'

interface Props {
  id: string | undefined
  /** As the list has it; else it is asked for. */
  known: Token | undefined
  onClose: () => void
  onChanged: () => void
}

export function TokenSheet({ id, known, onClose, onChanged }: Props) {
  const found = useQuery({
    queryKey: ['token', id],
    queryFn: () => ask<Token>('GET', `/tokens/${encodeURIComponent(id!)}`),
    enabled: id !== undefined && known === undefined,
  })
  const token = known ?? (id === undefined ? undefined : found.data)
  if (token === undefined) {
    return (
      <Sheet title={id} isOpen={found.error !== null && id !== undefined} onClose={onClose}>
        <ErrorNote error={found.error} />
      </Sheet>
    )
  }
  return <OpenToken token={token} onClose={onClose} onChanged={onChanged} />
}

type Doing = 'edit' | 'rotate' | 'revoke'

function OpenToken({
  token,
  onClose,
  onChanged,
}: {
  token: Token
  onClose: () => void
  onChanged: () => void
}) {
  const say = useWords(words)
  const [doing, setDoing] = useState<Doing>()
  const { error, run } = useAction()
  const done = () => setDoing(undefined)
  const toggle = () =>
    run(async () => {
      await ask('PATCH', `/tokens/${token.id}`, { body: { disabled: !token.disabled } })
      onChanged()
    })
  const revoke = async () => {
    await ask('DELETE', `/tokens/${token.id}`)
    onChanged()
    onClose()
  }
  const isOurs = token.source === 'api'
  return (
    <Sheet
      title={token.name}
      isOpen
      onClose={onClose}
      actions={isOurs && <Actions token={token} onToggle={toggle} onDo={setDoing} />}
    >
      <ErrorNote error={error} />
      <TokenDetails token={token} />
      <Modal opened={doing === 'edit'} onClose={done} title={say('edit')} size="lg">
        <TokenForm
          token={token}
          onCancel={done}
          onDone={() => {
            onChanged()
            done()
          }}
        />
      </Modal>
      <RotateToken token={token} isOpen={doing === 'rotate'} onClose={done} onDone={onChanged} />
      <ConfirmByName
        name={token.name}
        title={say('revoke')}
        text={say('revoke_text')}
        action={say('revoke')}
        isOpen={doing === 'revoke'}
        onClose={done}
        onConfirm={revoke}
      />
    </Sheet>
  )
}

function Actions({
  token,
  onToggle,
  onDo,
}: {
  token: Token
  onToggle: () => void
  onDo: (what: Doing) => void
}) {
  const say = useWords(words)
  return (
    <>
      <Button onClick={() => onDo('edit')}>{say('edit')}</Button>
      <Button variant="default" onClick={() => onDo('rotate')}>
        {say('rotate')}
      </Button>
      <Button variant="default" onClick={onToggle}>
        {say(token.disabled ? 'enable' : 'disable')}
      </Button>
      <Button color="red" variant="light" onClick={() => onDo('revoke')}>
        {say('revoke')}
      </Button>
    </>
  )
}

function TokenDetails({ token }: { token: Token }) {
  const say = useWords(words)
  const shared = useWords(common)
  const page = useWords(pageWords)
  const { currency, public_url } = useSession()
  const lastUsed = useLastUsed(token.id)
  return (
    <Stack>
      {token.source !== 'api' && (
        <Text size="sm" c="dimmed">
          {say('from_file')}
        </Text>
      )}
      <Facts
        rows={[
          ['ID', <CopyId key="id" id={token.id} most={40} />],
          [shared('account'), token.account],
          [shared('token'), `${token.prefix}…`],
          [say('models'), token.models.join(', ')],
          [say('ips'), token.allowed_ips.join(', ') || say('any_ip')],
          [say('rpm'), token.limits.rpm],
          [say('tpm'), token.limits.tpm],
          [say('concurrency'), token.limits.concurrency],
          [
            say('expires'),
            token.expires_at === null ? say('never') : <Time at={token.expires_at} />,
          ],
          [say('last_used'), lastUsed === undefined ? say('never') : <Time at={lastUsed} />],
          [say('created'), <Time key="at" at={token.created_at} />],
          [say('source'), token.source],
        ]}
      />
      {token.spend !== undefined && (
        <div>
          <SectionTitle>{say('spend')}</SectionTitle>
          <Money amount={token.spend} currency={currency} />
          <Spark values={dailySpend(token, Date.now())} />
        </div>
      )}
      <Link to={`/requests?token=${encodeURIComponent(token.id)}`}>{page('requests')}</Link>
      <SectionTitle>{say('connect')}</SectionTitle>
      <Text size="sm" c="dimmed">
        {say('connect_hint')}
      </Text>
      <CodeTabs snippets={snippets(public_url)} />
    </Stack>
  )
}

/** By the log itself, also of calls that cost nothing. */
function useLastUsed(id: string): string | undefined {
  const { data } = useQuery({
    queryKey: ['last-used', id],
    queryFn: () =>
      ask<Page<{ at: string }>>('GET', '/requests', { query: { token: id, limit: 1 } }),
  })
  return data?.items[0]?.at
}
