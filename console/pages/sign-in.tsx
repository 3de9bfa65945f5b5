// Signing in, and making the first administrator with the link that the gateway printed.
import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type SubmitEvent, useState } from 'react'
import { ask } from '../lib/api.ts'
import { go } from '../lib/router.tsx'
import type { Session } from '../lib/session.ts'
import { defineWords, setLanguage, useLanguage, useWords } from '../lib/words.ts'
import { ErrorNote } from '../parts/page.tsx'

const words = defineWords({
  en: {
    sign_in: 'Sign in',
    name: 'Name',
    password: 'Password',
    set_up: 'Set up the console',
    set_up_hint:
      'You are the first here: choose your name and a password of at least 12 characters.',
    begin: 'Begin',
    other: '中文',
    lost: 'No link? While nobody is set up, every start of the gateway prints one.',
  },
  zh: {
    sign_in: '登录',
    name: '用户名',
    password: '密码',
    set_up: '初始化控制台',
    set_up_hint: '你是第一位使用者：请设置用户名，以及至少 12 个字符的密码。',
    begin: '开始',
    other: 'English',
    lost: '没有链接？在无人完成初始化之前，网关每次启动都会打印一个。',
  },
})

function Card({
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
  const say = useWords(words)
  const language = useLanguage()
  const questions = useQueryClient()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      questions.setQueryData(['session'], await onSubmit({ name, password }))
      if (location.pathname.includes('/set-up')) go('/')
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
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
            label={say('name')}
            autoComplete="username"
            required
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PasswordInput
            label={say('password')}
            autoComplete={hint === undefined ? 'current-password' : 'new-password'}
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <ErrorNote error={error} />
          <Button type="submit" loading={busy}>
            {action}
          </Button>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
          >
            {say('other')}
          </Button>
        </Stack>
      </form>
    </Frame>
  )
}

const Frame = ({ children }: { children: ReactNode }) => (
  <Center mih="100vh" p="md" component="main">
    <Paper withBorder p="xl" w={380} maw="100%">
      {children}
    </Paper>
  </Center>
)

export function SignIn() {
  const say = useWords(words)
  return (
    <Card
      title="Model Gateway"
      action={say('sign_in')}
      onSubmit={(given) => ask<Session>('POST', '/session', { body: given })}
    />
  )
}

/** The code comes behind a `#`, which a browser sends to nobody. */
export function SetUp() {
  const say = useWords(words)
  const code = location.hash.slice(1)
  return (
    <Card
      title={say('set_up')}
      hint={code === '' ? say('lost') : say('set_up_hint')}
      action={say('begin')}
      onSubmit={(given) => ask<Session>('POST', '/setup', { body: { code, ...given } })}
    />
  )
}
