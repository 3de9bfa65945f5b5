// The menu of the signed-in person: time zone, language, theme, documentation, shortcuts and sign-out.
import { ActionIcon, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../lib/api.ts'
import { useTimeZone, zoneText } from '../lib/format/time-zone.ts'
import { defineMessages, setLanguage, useLanguage } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { privateClass, usePrivacy } from '../lib/privacy.ts'
import { navigate } from '../lib/router.tsx'
import { useServerText } from '../lib/server/use-server-text.ts'
import { endSession, useSession } from '../lib/session.ts'
import { Icon } from './icon.tsx'

const messages = defineMessages({
  sign_out: ['Sign out', '退出登录'],
  theme: ['Theme', '主题'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  auto: ['System', '跟随系统'],
  language: ['中文', 'English'],
  keys: ['Keyboard shortcuts', '快捷键'],
  times_in: ['Times in {zone}', '时区：{zone}'],
  docs: ['Documentation', '文档'],
})

/** Two letters, or the first character of a name in another script. */
function initialsOf(name: string): string {
  const names = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const first = [...(names[0] ?? '?')]
  if (!/^\p{Script=Latin}/u.test(first[0]!)) return first[0]!
  const letters = names.length > 1 ? first[0]! + [...names[1]!][0]! : first.slice(0, 2).join('')
  return letters.toUpperCase()
}

/** `isShort`: the initials alone. */
export function PersonMenu({ onKeys, isShort = false }: { onKeys: () => void; isShort?: boolean }) {
  const session = useSession()
  const server = useServerText()
  const role = server.text('role', session.role)
  const about = session.account === null ? role : `${role} · ${session.account}`
  return (
    <Menu position={isShort ? 'bottom-end' : 'top-start'} width={240}>
      <Menu.Target>
        <UnstyledButton
          className="person"
          {...(isShort ? { title: session.name, p: 2 } : { flex: 1 })}
        >
          <span className={`avatar ${privateClass}`} aria-hidden="true">
            {initialsOf(session.name)}
          </span>
          {!isShort && (
            <span className={`person-name ${privateClass}`} title={`${session.name}\n${about}`}>
              <b>{session.name}</b>
              <span>{about}</span>
            </span>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {isShort && (
          <Menu.Label className={privateClass}>
            {session.name} · {about}
          </Menu.Label>
        )}
        <PersonItems onKeys={onKeys} />
      </Menu.Dropdown>
    </Menu>
  )
}

/** Ends the session, at the company's own sign-in too where it has one. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    const { sign_out_url } = await api<{ sign_out_url: string | null }>('DELETE', '/session')
    endSession(queryClient, 'signed out')
    if (sign_out_url !== null) window.location.assign(sign_out_url)
    else navigate('/')
  }
}

function PersonItems({ onKeys }: { onKeys: () => void }) {
  const session = useSession()
  const language = useLanguage()
  const t = useMessages(messages)
  const [zone] = useTimeZone()
  const [isPrivate, togglePrivacy] = usePrivacy()
  const signOut = useSignOut()
  const other = language === 'zh' ? 'en' : 'zh'
  return (
    <>
      <ThemeChoice />
      <Menu.Divider />
      <Menu.Item lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => setLanguage(other)}>
        {t('language')}
      </Menu.Item>
      <Menu.Item onClick={() => navigate('/settings')}>
        {t('times_in', { zone: zoneText(zone) })}
      </Menu.Item>
      <Menu.Item onClick={togglePrivacy}>{t(isPrivate ? 'show_names' : 'hide_names')}</Menu.Item>
      <Menu.Divider />
      <Menu.Item
        component="a"
        href={`${session.public_url}/docs/guide`}
        target="_blank"
        rel="noreferrer"
      >
        {t('docs')}
      </Menu.Item>
      <Menu.Item onClick={onKeys}>{t('keys')}</Menu.Item>
      <Menu.Item onClick={signOut}>{t('sign_out')}</Menu.Item>
    </>
  )
}

const themes = ['light', 'dark', 'auto'] as const
const themeIcons = { light: 'sun', dark: 'moon', auto: 'monitor' } as const

function ThemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const t = useMessages(messages)
  return (
    <>
      {themes.map((each) => (
        <Menu.Item
          key={each}
          leftSection={<Icon name={themeIcons[each]} size={14} />}
          rightSection={each === colorScheme && <Icon name="check" size={14} />}
          onClick={() => setColorScheme(each)}
        >
          {t(each)}
        </Menu.Item>
      ))}
    </>
  )
}

export function PrivacyButton() {
  const t = useMessages()
  const [isClosed, toggle] = usePrivacy()
  return (
    <ActionIcon
      variant={isClosed ? 'filled' : 'subtle'}
      color={isClosed ? 'ink' : 'gray'}
      aria-label={t('privacy')}
      aria-pressed={isClosed}
      title={t(isClosed ? 'show_names' : 'hide_names')}
      onClick={toggle}
    >
      <Icon name={isClosed ? 'hidden' : 'eye'} size={16} />
    </ActionIcon>
  )
}
