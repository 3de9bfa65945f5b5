// The card of a person who is not signed in yet: a name, a password, and what else leads in.
import { Button, Card, Center, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type SubmitEvent, useState } from 'react'
import { useFieldError } from '../lib/field-errors.ts'
import { defineMessages, setLanguage, useLanguage } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { navigate } from '../lib/router.tsx'
import { endSession, rememberSession, type Session } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { Mark } from './brand.tsx'
import { ErrorAlert } from './page.tsx'

const messages = defineMessages({
  name: ['Name', '用户名'],
  password: ['Password', '密码'],
  other: ['中文', 'English'],
})

interface Given {
  name: string
  password: string
}

export function CredentialsCard({
  title,
  hint,
  action,
  isNew = false,
  name: known = '',
  isNamed = false,
  lead,
  onSubmit,
}: {
  title: string
  hint?: string
  action: string
  /** A new password is chosen; the page was opened by a link that works once. */
  isNew?: boolean
  /** Filled in beforehand. */
  name?: string
  /** The name cannot be changed. */
  isNamed?: boolean
  /** Above the fields. */
  lead?: ReactNode
  onSubmit: (given: Given) => Promise<Session>
}) {
  const t = useMessages(messages)
  const queryClient = useQueryClient()
  const wrong = useFieldError()
  const [name, setName] = useState(known)
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      const session = await onSubmit({ name, password })
      // A link may be opened while another person is signed in.
      if (isNew) endSession(queryClient, 'signed out')
      queryClient.setQueryData(['session'], session)
      rememberSession(true)
      if (isNew) navigate('/', 'replace')
    })
  }
  return (
    <EntryCard title={title} {...(hint !== undefined && { hint })}>
      {lead}
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('name')}
            autoComplete="username"
            required
            readOnly={isNamed}
            value={name}
            error={isNew && !isNamed && wrong('person', name)}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PasswordInput
            label={t('password')}
            autoComplete={isNew ? 'new-password' : 'current-password'}
            required
            value={password}
            error={isNew && wrong('password', password)}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <ErrorAlert error={error} />
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Stack>
      </form>
    </EntryCard>
  )
}

/** The frame of every page without a session, with the language button. */
export function EntryCard({
  title,
  hint,
  children,
}: {
  title: string
  hint?: string
  children: ReactNode
}) {
  const t = useMessages(messages)
  const language = useLanguage()
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder p="xl" w={380} maw="100%" className="entry">
        <Stack>
          <Mark size={28} />
          <Title order={1} size="h1">
            {title}
          </Title>
          {hint !== undefined && <Text size="sm">{hint}</Text>}
          {children}
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
          >
            {t('other')}
          </Button>
        </Stack>
      </Card>
    </Center>
  )
}
