// What a token may do: for a new one and for a change.
import { Group, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { FormActions } from '../../components/form-actions.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Account, Token } from '../../lib/resources/token.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

const limitNames = ['rpm', 'tpm', 'concurrency'] as const
type Limits = Record<(typeof limitNames)[number], number | ''>

export function useAccounts() {
  return useQuery({
    queryKey: ['accounts'],
    queryFn: () => api<Page<Account>>('GET', '/accounts', { query: { limit: 500 } }),
  })
}

export function TokenForm({
  token,
  onCancel,
  onDone,
}: {
  /** Absent: a new one. */
  token?: Token
  onCancel: () => void
  onDone: (answer: { token?: string }) => void
}) {
  const t = useMessages(messages)
  const session = useSession()
  const accounts = useAccounts()
  const [name, setName] = useState(token?.name ?? '')
  const [account, setAccount] = useState<string | null>(token?.account ?? session.account)
  const [models, setModels] = useState(token?.models.filter((each) => each !== '*') ?? [])
  const [ips, setIps] = useState(token?.allowed_ips ?? [])
  const [expires, setExpires] = useState(dayOf(token?.expires_at))
  const [limits, setLimits] = useState<Limits>({
    rpm: '',
    tpm: '',
    concurrency: '',
    ...token?.limits,
  })
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = { models, ips, expires, limits }
    void run(async () => {
      onDone(
        token === undefined
          ? await api<{ token: string }>('POST', '/tokens', {
              body: { account, name, ...newFields(given) },
            })
          : await api<object>('PATCH', `/tokens/${token.id}`, {
              body: { name, ...changedFields(given) },
            }),
      )
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t('name')}
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {token === undefined && (
          <Select
            label={t('account')}
            required
            searchable
            data={accounts.data?.items.map((each) => each.name) ?? []}
            value={account}
            onChange={setAccount}
          />
        )}
        <TagsInput
          label={t('models')}
          description={t('models_hint')}
          value={models}
          onChange={setModels}
        />
        <TagsInput label={t('ips')} description={t('ips_hint')} value={ips} onChange={setIps} />
        <Group grow>
          {limitNames.map((limit) => (
            <NumberInput
              key={limit}
              label={t(limit)}
              min={1}
              allowDecimal={false}
              value={limits[limit]}
              onChange={(value) =>
                setLimits({ ...limits, [limit]: value === '' ? '' : Number(value) })
              }
            />
          ))}
        </Group>
        <TextInput
          type="date"
          label={t('expires')}
          description={t('expires_hint')}
          value={expires}
          onChange={(event) => setExpires(event.currentTarget.value)}
        />
        <FormActions
          error={error}
          isBusy={isBusy}
          submit={t(token === undefined ? 'create' : 'save')}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  )
}

interface Given {
  models: string[]
  ips: string[]
  /** A day, or empty. */
  expires: string
  limits: Limits
}

const dayOf = (at: string | null | undefined): string => at?.slice(0, 10) ?? ''
/** The end of that day, by UTC. */
const endOf = (day: string): string => `${day}T23:59:59Z`

function newFields({ models, ips, expires, limits }: Given): object {
  const set = Object.entries(limits).filter(([, value]) => value !== '')
  return {
    ...(models.length > 0 && { models }),
    ...(ips.length > 0 && { allowed_ips: ips }),
    ...(expires !== '' && { expires_at: endOf(expires) }),
    ...(set.length > 0 && { limits: Object.fromEntries(set) }),
  }
}

/** What is empty is taken away. */
const changedFields = ({ models, ips, expires, limits }: Given): object => ({
  models: models.length === 0 ? ['*'] : models,
  allowed_ips: ips,
  expires_at: expires === '' ? null : endOf(expires),
  limits: Object.fromEntries(limitNames.map((name) => [name, limits[name] || null])),
})
