// Sign-in, and the first administrator by the link that the gateway printed.
import { CredentialsCard } from '../components/credentials-card.tsx'
import { api } from '../lib/api.ts'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import type { Session } from '../lib/session.ts'

const messages = defineMessages({
  sign_in: ['Sign in', '登录'],
  set_up: ['Set up the console', '初始化控制台'],
  set_up_hint: [
    'Create the first administrator: choose a name and a password of at least 12 characters.',
    '创建首位管理员：请设置用户名和至少 12 个字符的密码。',
  ],
  begin: ['Create administrator', '创建管理员'],
  lost: [
    'No setup code? Until the first administrator exists, the gateway prints a setup link at every start.',
    '没有链接？首位管理员创建之前，网关每次启动都会打印一个初始化链接。',
  ],
})

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
      isNew
      onSubmit={(given) => api<Session>('POST', '/setup', { body: { code, ...given } })}
    />
  )
}
