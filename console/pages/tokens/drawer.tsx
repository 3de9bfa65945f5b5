// One token: its rights and charges, code to connect an application, rotation and revocation.

import { Button, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { BudgetFigures } from '../../components/billing/budget.tsx'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { ConnectTabs } from '../../components/connect-tabs.tsx'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { Qualifying } from '../../components/fields/require-fields.tsx'
import { ErrorAlert, SectionTitle } from '../../components/page.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { Money, Time } from '../../components/values.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { dataText } from '../../lib/resources/data-terms.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { dailySpend, modelsText, type Token } from '../../lib/resources/token.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { pageTitles } from '../../navigation.ts'
import { RotateToken } from './create.tsx'
import { TokenForm } from './form.tsx'
import { messages } from './messages.ts'

interface Props {
  id: string | undefined
  /** As the list has it; else it is asked for. */
  known: Token | undefined
  onClose: () => void
  onChanged: () => void
}

export function TokenDrawer({ id, known, onClose, onChanged }: Props) {
  const found = useResource<Token>(`/tokens/${encodeURIComponent(id!)}`, {
    enabled: id !== undefined && known === undefined,
  })
  const token = known ?? (id === undefined ? undefined : found.data)
  if (token === undefined) {
    return (
      <DetailsDrawer title={id} isOpen={found.error !== null && id !== undefined} onClose={onClose}>
        <ErrorAlert error={found.error} />
      </DetailsDrawer>
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
  const t = useMessages(messages)
  const [doing, setDoing] = useState<Doing>()
  const { error, run } = useAction()
  const done = () => setDoing(undefined)
  const toggle = () =>
    run(async () => {
      const set = async (disabled: boolean) => {
        await api('PATCH', `/tokens/${token.id}`, { body: { disabled } })
        onChanged()
      }
      await set(!token.disabled)
      const said = t(token.disabled ? 'enabled_many' : 'disabled_many', { n: 1 })
      offerUndo(said, () => set(token.disabled))
    })
  const revoke = async () => {
    await api('DELETE', `/tokens/${token.id}`)
    onChanged()
    onClose()
  }
  const isEditable = token.source === 'api'
  return (
    <DetailsDrawer
      title={token.name}
      isOpen
      onClose={onClose}
      isLocked={doing !== undefined}
      actions={isEditable && <Actions token={token} onToggle={toggle} onDo={setDoing} />}
    >
      <ErrorAlert error={error} />
      <TokenDetails token={token} />
      <Modal opened={doing === 'edit'} onClose={done} title={t('edit')} size="lg">
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
      <Confirm
        title={t('revoke_token')}
        text={t('revoke_text')}
        action={t('revoke_token')}
        keep={t('keep_token')}
        isFinal
        isOpen={doing === 'revoke'}
        onClose={done}
        onConfirm={revoke}
      />
    </DetailsDrawer>
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
  const t = useMessages(messages)
  return (
    <>
      <Button onClick={() => onDo('edit')}>{t('edit')}</Button>
      <Button variant="default" onClick={() => onDo('rotate')}>
        {t('rotate')}
      </Button>
      <Button variant="default" onClick={onToggle}>
        {t(token.disabled ? 'enable' : 'disable')}
      </Button>
      <Button color="red" variant="light" onClick={() => onDo('revoke')}>
        {t('revoke')}
      </Button>
    </>
  )
}

function TokenDetails({ token }: { token: Token }) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const bound = (value: number | undefined) => (value === undefined ? '' : format.number(value))
  const page = useMessages(pageTitles)
  const { currency } = useSession()
  const lastUsed = useLastUsed(token.id)
  return (
    <Stack>
      {token.source !== 'api' && (
        <Text size="sm" c="dimmed">
          {t('from_file')}
        </Text>
      )}
      <PropertyList
        rows={[
          ['ID', <CopyId key="id" id={token.id} max={40} />],
          [t('account'), token.account],
          [t('token'), `${token.prefix}…`],
          [t('models'), modelsText(token.models, t('all'))],
          [t('ips'), token.allowed_ips.join(', ') || t('any_ip')],
          [t('translation'), t(`translation_${token.translation}`)],
          [t('fallback'), t(`fallback_${token.fallback}`)],
          [t('tags'), tagsText(token.tags)],
          [t('require'), dataText(token.require)],
          ['', <Qualifying key="q" required={[token.require]} />],
          [t('rpm'), bound(token.limits.rpm)],
          [t('tpm'), bound(token.limits.tpm)],
          [t('concurrency'), bound(token.limits.concurrency)],
          [t('expires'), token.expires_at === null ? t('never') : <Time at={token.expires_at} />],
          [t('last_used'), lastUsed === undefined ? t('never') : <Time at={lastUsed} />],
          [t('created'), <Time key="at" at={token.created_at} />],
          [t('source'), server.text('source', token.source)],
        ]}
      />
      {token.budget !== null && (
        <div>
          <SectionTitle>{t('spending_budget')}</SectionTitle>
          <BudgetFigures budget={token.budget} />
        </div>
      )}
      {token.spend !== undefined && (
        <div>
          <SectionTitle>{t('spend')}</SectionTitle>
          <Money amount={token.spend} currency={currency} />
          <Sparkline values={dailySpend(token, Date.now())} />
        </div>
      )}
      <Link to={`/requests?token=${encodeURIComponent(token.id)}`}>{page('requests')}</Link>
      <SectionTitle>{t('connect')}</SectionTitle>
      <Text size="sm" c="dimmed">
        {t('connect_hint')}
      </Text>
      <ConnectTabs models={token.models} />
    </Stack>
  )
}

/** By the log itself, also of calls that cost nothing. */
function useLastUsed(id: string): string | undefined {
  const { data } = useResource<Page<{ at: string }>>('/requests', {
    query: { token: id, limit: 1 },
  })
  return data?.items[0]?.at
}
