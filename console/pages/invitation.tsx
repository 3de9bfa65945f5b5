// The page behind a link that works once: a person accepts an invitation, or sets a new password.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { OpenedInvitation } from '../../src/admin/invitations/invitation-schema.ts'
import { CredentialsCard, EntryCard } from '../components/credentials-card.tsx'
import { ErrorAlert } from '../components/page.tsx'
import { Waiting } from '../components/waiting.tsx'
import { api } from '../lib/api.ts'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { useServerText } from '../lib/server/use-server-text.ts'
import type { Session } from '../lib/session.ts'

const messages = defineMessages({
  invited: ['You are invited', '您已受邀'],
  as: [
    'You will be able to sign in as {role}. Choose a name and a password of at least 12 characters.',
    '您将以“{role}”身份登录。请设置用户名和至少 12 个字符的密码。',
  ],
  as_member: [
    'You will be able to sign in as {role} of the account {account}. Choose a name and a password of at least 12 characters.',
    '您将以账户 {account} 的“{role}”身份登录。请设置用户名和至少 12 个字符的密码。',
  ],
  accept: ['Create account and sign in', '创建并登录'],
  password: ['Set a new password', '设置新密码'],
  password_hint: [
    'Choose a password of at least 12 characters. Your other sessions end.',
    '请设置至少 12 个字符的密码。其他会话将结束。',
  ],
  set: ['Set password and sign in', '设置密码并登录'],
  unusable: ['This link cannot be used', '链接无法使用'],
  ask: [
    'It works once and for a limited time, and may have been withdrawn. Ask an administrator of the gateway for a new one.',
    '链接只能使用一次且有有效期，也可能已被撤销。请联系网关管理员获取新的链接。',
  ],
  to_sign_in: ['To the sign-in', '前往登录'],
})

export function Invitation() {
  const t = useMessages(messages)
  // Kept: the address changes once the link is used.
  const [code] = useState(() => location.hash.slice(1))
  const { data, error } = useQuery<OpenedInvitation>({
    queryKey: ['invitation', code],
    queryFn: () => api<OpenedInvitation>('POST', '/invitations/open', { body: { code } }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  if (error !== null) {
    return (
      <EntryCard title={t('unusable')} hint={t('ask')}>
        <ErrorAlert error={error} />
        <Button variant="default" onClick={() => location.assign('/console/')}>
          {t('to_sign_in')}
        </Button>
      </EntryCard>
    )
  }
  if (data === undefined) {
    return <Waiting />
  }
  return data.kind === 'password' ? (
    <NewPassword code={code} name={data.person ?? ''} />
  ) : (
    <NewPerson code={code} invitation={data} />
  )
}

const accept = (body: object): Promise<Session> =>
  api<Session>('POST', '/invitations/accept', { body })

function NewPerson({ code, invitation }: { code: string; invitation: OpenedInvitation }) {
  const t = useMessages(messages)
  const server = useServerText()
  const role = server.text('role', invitation.role)
  const { account, email } = invitation
  return (
    <CredentialsCard
      title={t('invited')}
      hint={account === null ? t('as', { role }) : t('as_member', { role, account })}
      action={t('accept')}
      isNew
      name={email ?? ''}
      onSubmit={(given) => accept({ code, ...given })}
    />
  )
}

function NewPassword({ code, name }: { code: string; name: string }) {
  const t = useMessages(messages)
  return (
    <CredentialsCard
      title={t('password')}
      hint={t('password_hint')}
      action={t('set')}
      isNew
      isNamed
      name={name}
      onSubmit={({ password }) => accept({ code, password })}
    />
  )
}
