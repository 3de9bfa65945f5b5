// Sign-in, and the first administrator by the link that the gateway printed.
import { Button, Card, Center, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../components/page.tsx'
import { api } from '../lib/api.ts'
import { defineMessages, setLanguage, useLanguage } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { navigate } from '../lib/router.tsx'
import type { Session } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'

const messages = defineMessages({
  sign_in: ['Sign in', '登录'],
  name: ['Name', '用户名'],
  password: ['Password', '密码'],
  set_up: ['Set up the console', '初始化控制台'],
  set_up_hint: [
    'Create the first administrator: choose a name and a password of at least 12 characters.',
    '创建首位管理员：请设置用户名和至少 12 个字符的密码。',
  ],
  begin: ['Create administrator', '创建管理员'],
  other: ['中文', 'English'],
  lost: [
    'No setup code? Until the first administrator exists, the gateway prints a setup link at every start.',
    '没有链接？首位管理员创建之前，网关每次启动都会打印一个初始化链接。',
  ],
})

function CredentialsCard({
  title,
  hint,
  action,
  onSubmit,
}: {
  title: string
  hint?: string
  action: string
  onSubmit: (given: { name: string; password: string }) => Promise<Session>
}) {
  const t = useMessages(messages)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      queryClient.setQueryData(['session'], await onSubmit({ name, password }))
      if (location.pathname.includes('/set-up')) navigate('/')
    })
  }
  return (
    <Frame>
      <form onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3">
            {title}
          </Title>
          {hint !== undefined && <Text size="sm">{hint}</Text>}
          <TextInput
            label={t('name')}
            autoComplete="username"
            required
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PasswordInput
            label={t('password')}
            autoComplete={hint === undefined ? 'current-password' : 'new-password'}
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <ErrorAlert error={error} />
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
          >
            {t('other')}
          </Button>
        </Stack>
      </form>
    </Frame>
  )
}

const Frame = ({ children }: { children: ReactNode }) => (
  <Center mih="100vh" p="md" component="main">
    <Card withBorder p="xl" w={380} maw="100%">
      {children}
    </Card>
  </Center>
)

export function SignIn() {
  const t = useMessages(messages)
  return (
    <CredentialsCard
      title="Model Gateway"
      action={t('sign_in')}
      onSubmit={(given) => api<Session>('POST', '/session', { body: given })}
    />
  )
}

/** The code comes after a `#`, which browsers do not send. */
export function SetUp() {
  const t = useMessages(messages)
  const code = location.hash.slice(1)
  return (
    <CredentialsCard
      title={t('set_up')}
      hint={code === '' ? t('lost') : t('set_up_hint')}
      action={t('begin')}
      onSubmit={(given) => api<Session>('POST', '/setup', { body: { code, ...given } })}
    />
  )
}
