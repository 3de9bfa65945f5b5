// A new token: what it may do, then its secret, once.
import {
  Alert,
  Button,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { ask, type Page } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import { words } from './words.ts'

export function CreateToken({
  isOpen,
  onClose,
  onCreated,
}: {
  isOpen: boolean
  onClose: () => void
  onCreated: () => void
}) {
  const say = useWords(words)
  const [secret, setSecret] = useState<string>()
  const close = () => {
    setSecret(undefined)
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={close} title={say('create')} closeOnClickOutside={false}>
      {secret === undefined ? (
        <TokenForm
          onCancel={close}
          onCreated={(made) => {
            setSecret(made)
            onCreated()
          }}
        />
      ) : (
        <Stack>
          <Alert color="yellow">{say('secret')}</Alert>
          <CopyBlock text={secret} label={say('secret')} />
          <Button onClick={close}>{say('done')}</Button>
        </Stack>
      )}
    </Modal>
  )
}

type Limits = Record<'rpm' | 'tpm' | 'concurrency', number | ''>

function TokenForm({
  onCancel,
  onCreated,
}: {
  onCancel: () => void
  onCreated: (secret: string) => void
}) {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const accounts = useQuery({
    queryKey: ['accounts'],
    queryFn: () => ask<Page<{ name: string }>>('GET', '/accounts', { query: { limit: 500 } }),
  })
  const [name, setName] = useState('')
  const [account, setAccount] = useState<string | null>(session.account)
  const [models, setModels] = useState<string[]>([])
  const [limits, setLimits] = useState<Limits>({ rpm: '', tpm: '', concurrency: '' })
  const [error, setError] = useState<Error>()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setError(undefined)
    const given = Object.entries(limits).filter(([, value]) => value !== '')
    const body = {
      account,
      name,
      ...(models.length > 0 && { models }),
      ...(given.length > 0 && { limits: Object.fromEntries(given) }),
    }
    try {
      onCreated((await ask<{ token: string }>('POST', '/tokens', { body })).token)
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={say('name')}
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={shared('account')}
          required
          searchable
          data={accounts.data?.items.map((each) => each.name) ?? []}
          value={account}
          onChange={setAccount}
        />
        <TagsInput
          label={say('models')}
          description={say('models_hint')}
          value={models}
          onChange={setModels}
        />
        <Group grow>
          {(['rpm', 'tpm', 'concurrency'] as const).map((limit) => (
            <NumberInput
              key={limit}
              label={say(limit)}
              min={1}
              allowDecimal={false}
              value={limits[limit]}
              onChange={(value) =>
                setLimits({ ...limits, [limit]: value === '' ? '' : Number(value) })
              }
            />
          ))}
        </Group>
        <ErrorNote error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {shared('cancel')}
          </Button>
          <Button type="submit">{shared('create')}</Button>
        </Group>
      </Stack>
    </form>
  )
}
