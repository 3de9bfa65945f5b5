// Sign-in, and the first administrator by the link that the gateway printed.
import { Alert, Button, Code, Stack, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import type { SignInOptions, SignInProblem } from '../../src/admin/oidc/oidc-schema.ts'
import { CredentialsCard, EntryCard } from '../components/credentials-card.tsx'
import { Waiting } from '../components/waiting.tsx'
import { api, queryString } from '../lib/api.ts'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { useLocation } from '../lib/router.tsx'
import { hasExpired, type Session } from '../lib/session.ts'
import { useResource } from '../lib/use-resource.ts'

const messages = defineMessages({
  sign_in: ['Sign in', '登录'],
  single_sign_on: ['Continue with single sign-on (SSO)', '使用单点登录（SSO）'],
  break_glass: ['Break-glass sign-in with a password', '使用密码紧急登录'],
  not_signed_in: ['You are not signed in', '登录未完成'],
  expired: [
    'The sign-in took too long, was used already, or was begun in another browser. Please try again.',
    '登录已超时、已被使用，或并非在此浏览器中发起。请重试。',
  ],
  denied: ['The identity provider did not complete the sign-in.', '身份提供方未完成登录。'],
  failed: [
    'The answer of the identity provider was not accepted. The log of the gateway has the reason.',
    '身份提供方的响应未通过校验，原因见网关日志。',
  ],
  unavailable: [
    'The identity provider cannot be reached. Please try again later.',
    '无法连接身份提供方，请稍后重试。',
  ],
  too_many: [
    'Too many sign-ins from your address have failed. Please wait ten minutes.',
    '来自你所在地址的登录失败次数过多，请等待十分钟。',
  ],
  no_group: [
    'You are in no group that may use this gateway. Ask an administrator to add you to one.',
    '你不在任何可使用此网关的用户组中，请联系管理员。',
  ],
  no_account: [
    'Your group belongs to an account that does not exist here. Ask an administrator.',
    '你的用户组对应的账户不存在，请联系管理员。',
  ],
  disabled: [
    'You have been disabled at this gateway. Ask an administrator.',
    '你在此网关的用户已被停用，请联系管理员。',
  ],
  ended: ['Your session ended', '会话已结束'],
  back: ['Sign in, and you are back where you were.', '登录后将回到之前的页面。'],
  set_up: ['Set up the console', '初始化控制台'],
  set_up_hint: [
    'Create the first administrator: choose a name and a password of at least 12 characters.',
    '创建首位管理员：请设置用户名和至少 12 个字符的密码。',
  ],
  set_up_first: [
    'This gateway has no administrator yet. Open the set-up link that it printed when it started: it is in the terminal or in the log of the gateway, and every start prints a new one. Or paste it here.',
    '此网关还没有管理员。请打开网关启动时打印的初始化链接：它在启动网关的终端或日志中，每次启动都会打印新的链接。也可以在此粘贴。',
  ],
  set_up_link: ['Set-up link or code', '初始化链接或代码'],
  continue: ['Continue', '继续'],
  begin: ['Create administrator', '创建管理员'],
  set_up_used: [
    'This link has been used: the gateway has an administrator. Sign in, or ask them for an invitation.',
    '此链接已被使用：网关已有管理员。请登录，或请管理员发送邀请。',
  ],
  lost: [
    'No setup code? Until the first administrator exists, the gateway prints a setup link at every start.',
    '没有链接？首位管理员创建之前，网关每次启动都会打印一个初始化链接。',
  ],
})

export function SignIn() {
  const { data: setup, isLoading } = useResource<{ needed: boolean }>('/setup')
  if (isLoading) return <Waiting />
  return setup?.needed === true ? <SetUpFirst /> : <SignInCard />
}

const useSignInOptions = () =>
  useResource<SignInOptions>('/session/options', { staleTime: 60_000 }).data

/** Before there is an administrator: no password works yet. */
function SetUpFirst() {
  const t = useMessages(messages)
  const options = useSignInOptions()
  const [link, setLink] = useState('')
  const code = link.trim().split('#').at(-1) ?? ''
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    location.assign(`/console/set-up#${encodeURIComponent(code)}`)
  }
  return (
    <EntryCard title={t('set_up')} hint={t('set_up_first')}>
      <Code block>{'Set up the console, once:\n   https://…/console/set-up#…'}</Code>
      {options?.oidc === true && <SingleSignOn />}
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('set_up_link')}
            required
            autoComplete="off"
            value={link}
            onChange={(event) => setLink(event.currentTarget.value)}
          />
          <Button type="submit">{t('continue')}</Button>
        </Stack>
      </form>
    </EntryCard>
  )
}

function SignInCard() {
  const t = useMessages(messages)
  const options = useSignInOptions()
  const [usesPassword, setUsesPassword] = useState(false)
  const lead = (
    <>
      <SessionEnded />
      {options?.oidc === true && <SingleSignOn />}
    </>
  )
  if (options?.passwords === false && !usesPassword) {
    return (
      <EntryCard title="Model Gateway">
        {lead}
        <Button variant="subtle" size="compact-sm" onClick={() => setUsesPassword(true)}>
          {t('break_glass')}
        </Button>
      </EntryCard>
    )
  }
  return (
    <CredentialsCard
      title="Model Gateway"
      action={t('sign_in')}
      lead={lead}
      onSubmit={(given) => api<Session>('POST', '/session', { body: given })}
    />
  )
}

/** Why the sign-in is here, and that the page that was open comes back. */
function SessionEnded() {
  const t = useMessages(messages)
  if (!hasExpired()) return null
  return (
    <Alert role="status" color="gray" title={t('ended')}>
      {t('back')}
    </Alert>
  )
}

/** The provider leads back to the page that was asked for, or here with the reason why not. */
function SingleSignOn() {
  const t = useMessages(messages)
  const { query } = useLocation()
  const problem = signInProblems.find((each) => each === query.get('problem'))
  const start = () => {
    const page = problem === undefined ? location.pathname + location.search : '/console/'
    location.assign(`/admin/v1/oidc/start${queryString({ return_to: page })}`)
  }
  return (
    <>
      {problem !== undefined && (
        <Alert color="red" role="alert" title={t('not_signed_in')}>
          {t(problem)}
        </Alert>
      )}
      <Button onClick={start}>{t('single_sign_on')}</Button>
    </>
  )
}

const signInProblems: readonly SignInProblem[] = [
  'expired',
  'denied',
  'failed',
  'unavailable',
  'too_many',
  'no_group',
  'no_account',
  'disabled',
]

/** The code comes after a `#`, which browsers do not send. */
export function SetUp() {
  const t = useMessages(messages)
  const { data: setup, isLoading } = useResource<{ needed: boolean }>('/setup')
  const code = location.hash.slice(1)
  if (isLoading) return <Waiting />
  if (setup?.needed === false) {
    return (
      <EntryCard title={t('set_up')} hint={t('set_up_used')}>
        <Button onClick={() => location.assign('/console/')}>{t('sign_in')}</Button>
      </EntryCard>
    )
  }
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
