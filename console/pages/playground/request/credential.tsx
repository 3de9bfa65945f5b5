// The credential of a call: a temporary token, one with the rights of an existing token, or a typed-in
// secret. Secrets are not stored, so only the rights of an existing token can be copied.

import { PasswordInput, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Page } from '../../../lib/api.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from '../messages.ts'
import { type Rights, tokenFor } from './token.ts'

interface Token extends Rights {
  id: string
  name: string
  disabled: boolean
  expires_at: string | null
}

export interface Credential {
  choice: string
  secret: string
  tokens: readonly Token[]
  setChoice: (choice: string) => void
  setSecret: (secret: string) => void
  isReady: boolean
  /** For the account that pays, unless the secret is one's own; good for that long. */
  secretFor: (account: string, neededMs?: number) => Promise<string>
}

const tab = 'tab'
const own = 'own'

export function useCredential(account: string | null): Credential {
  const [choice, setChoice] = useState(tab)
  const [secret, setSecret] = useState('')
  const { data } = useResource<Page<Token>>('/tokens', {
    query: { account: account!, limit: 200 },
    enabled: account !== null,
  })
  const tokens = (data?.items ?? []).filter(
    ({ name, disabled, expires_at }) =>
      !disabled &&
      !name.startsWith('playground-') &&
      (expires_at === null || Date.parse(expires_at) > Date.now()),
  )
  const like = tokens.find(({ id }) => id === choice)
  const known = choice === own || like !== undefined ? choice : tab
  return {
    ...{ choice: known, secret, tokens, setChoice, setSecret },
    isReady: known !== own || secret.trim() !== '',
    secretFor: (payer, neededMs) =>
      known === own
        ? Promise.resolve(secret.trim())
        : tokenFor(payer, like && rightsOf(like), neededMs),
  }
}

const rightsOf = ({ models, limits, allowed_ips }: Token): Rights => ({
  models,
  limits,
  allowed_ips,
})

export function CredentialField({ sender }: { sender: Credential }) {
  const t = useMessages(messages)
  const { choice, tokens } = sender
  const note = choice === own ? 'own_note' : choice === tab ? 'token_note' : 'like_note'
  return (
    <Stack gap={4}>
      <Select
        label={t('send_as')}
        allowDeselect={false}
        searchable={tokens.length > 8}
        classNames={{ input: privateClass }}
        value={choice}
        onChange={(next) => sender.setChoice(next ?? tab)}
        data={[
          { value: tab, label: t('as_tab') },
          ...tokens.map(({ id, name }) => ({ value: id, label: t('as_token', { name }) })),
          { value: own, label: t('as_own') },
        ]}
      />
      {choice === own && (
        <PasswordInput
          label={t('secret')}
          value={sender.secret}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': t('show_secret') }}
          onChange={(event) => sender.setSecret(event.currentTarget.value)}
        />
      )}
      <Text size="xs" c="dimmed">
        {t(note)}
      </Text>
    </Stack>
  )
}
