// The frame around every page: navigation, search, language, theme and the signed-in person.

import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Menu,
  ScrollArea,
  Stack,
  Text,
  useMantineColorScheme,
} from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { CommandPalette, ShortcutsHelp } from './command-palette.tsx'
import { Icon } from './components/icon.tsx'
import { api } from './lib/api.ts'
import { useTimeZone, zoneText } from './lib/format/time-zone.ts'
import { defineMessages, setLanguage, useLanguage } from './lib/i18n.ts'
import { useMessages } from './lib/messages.ts'
import { privateClass, usePrivacy } from './lib/privacy.ts'
import { Link, navigate, useLocation } from './lib/router.tsx'
import { useServerText } from './lib/server/use-server-text.ts'
import { endSession, hasRole, useSession } from './lib/session.ts'
import { searchKeys, useShortcuts } from './lib/shortcuts.ts'
import { groups, pages, pageTitles } from './navigation.ts'

const messages = defineMessages({
  sandbox: ['SANDBOX', '沙盒'],
  live: ['LIVE', '生产'],
  sandbox_hint: ['The built-in simulator answers all requests', '所有请求由内置模拟器应答'],
  live_hint: ['Requests go to real upstreams', '请求发往真实上游'],
  sign_out: ['Sign out', '退出登录'],
  theme: ['Theme', '主题'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  auto: ['System', '跟随系统'],
  language: ['中文', 'English'],
  menu: ['Menu', '菜单'],
  keys: ['Keyboard shortcuts', '快捷键'],
  times_in: ['Times in {zone}', '时区：{zone}'],
  docs: ['Documentation', '文档'],
})

export function Shell({ children }: { children: ReactNode }) {
  const [menuOpen, setMenuOpen] = useState(false)
  const [paletteOpen, setPaletteOpen] = useState(false)
  const [helpOpen, setHelpOpen] = useState(false)
  const session = useSession()
  const t = useMessages(messages)
  const shown = pages.filter(({ roles }) => hasRole(session, roles))
  useShortcuts({
    'mod+k': () => setPaletteOpen(true),
    '/': () => setPaletteOpen(true),
    '?': () => setHelpOpen(true),
    ...Object.fromEntries(shown.map(({ key, path }) => [`g ${key}`, () => navigate(path)])),
  })
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={menuOpen}
              onClick={() => setMenuOpen(!menuOpen)}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('menu')}
            />
            <Text fw={700} visibleFrom="xs">
              Model Gateway
            </Text>
            <Badge
              color={session.environment === 'live' ? 'teal' : 'violet'}
              variant="light"
              title={t(session.environment === 'live' ? 'live_hint' : 'sandbox_hint')}
            >
              {t(session.environment)}
            </Badge>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton onClick={() => setPaletteOpen(true)} />
            <PrivacyButton />
            <LanguageButton />
            <ThemeMenu />
            <UserMenu onKeys={() => setHelpOpen(true)} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('menu')}>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation onGo={() => setMenuOpen(false)} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>{children}</AppShell.Main>
      <CommandPalette isOpen={paletteOpen} onClose={() => setPaletteOpen(false)} />
      <ShortcutsHelp isOpen={helpOpen} onClose={() => setHelpOpen(false)} />
    </AppShell>
  )
}

function Navigation({ onGo }: { onGo: () => void }) {
  const session = useSession()
  const { path } = useLocation()
  const t = useMessages(pageTitles)
  const shown = pages.filter(({ roles }) => hasRole(session, roles))
  const current = shown.find((page) => path === page.path || path.startsWith(`${page.path}/`))
  return (
    <Stack gap="xs">
      {groups.map((group) => {
        const inGroup = shown.filter((page) => page.group === group)
        if (inGroup.length === 0) return null
        return (
          <Stack gap={2} key={group}>
            {t(group) !== '' && (
              <Text size="xs" c="dimmed" fw={600} px={10} mt={4}>
                {t(group)}
              </Text>
            )}
            {inGroup.map((page) => (
              <Link
                key={page.path}
                to={page.path}
                className="nav-link"
                aria-current={page === current ? 'page' : undefined}
                onClickCapture={onGo}
              >
                <Icon name={page.name} />
                {t(page.name)}
              </Link>
            ))}
          </Stack>
        )
      })}
    </Stack>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  const t = useMessages()
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        onClick={onClick}
        leftSection={<Icon name="search" size={14} />}
        rightSection={<Text size="xs">{searchKeys}</Text>}
      >
        {t('search')}
      </Button>
      <ActionIcon hiddenFrom="sm" variant="default" onClick={onClick} aria-label={t('search')}>
        <Icon name="search" size={16} />
      </ActionIcon>
    </>
  )
}

function PrivacyButton() {
  const t = useMessages()
  const [isClosed, toggle] = usePrivacy()
  return (
    <ActionIcon
      variant={isClosed ? 'filled' : 'default'}
      aria-label={t('privacy')}
      aria-pressed={isClosed}
      title={t(isClosed ? 'show_names' : 'hide_names')}
      onClick={toggle}
    >
      <Icon name={isClosed ? 'hidden' : 'eye'} size={16} />
    </ActionIcon>
  )
}

function LanguageButton() {
  const language = useLanguage()
  const t = useMessages(messages)
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      lang={language === 'zh' ? 'en' : 'zh-CN'}
      onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
    >
      {t('language')}
    </Button>
  )
}

function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const t = useMessages(messages)
  const icons = { light: 'sun', dark: 'moon', auto: 'monitor' } as const
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={t('theme')}>
          <Icon name={icons[colorScheme]} size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['light', 'dark', 'auto'] as const).map((each) => (
          <Menu.Item
            key={each}
            leftSection={<Icon name={icons[each]} size={14} />}
            onClick={() => setColorScheme(each)}
          >
            {t(each)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function UserMenu({ onKeys }: { onKeys: () => void }) {
  const server = useServerText()
  const session = useSession()
  const queryClient = useQueryClient()
  const t = useMessages(messages)
  const [zone] = useTimeZone()
  const signOut = async () => {
    const { sign_out_url } = await api<{ sign_out_url: string | null }>('DELETE', '/session')
    endSession(queryClient)
    if (sign_out_url !== null) window.location.assign(sign_out_url)
    else navigate('/')
  }
  return (
    <Menu>
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" className={privateClass}>
          {session.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={privateClass}>
          {server.text('role', session.role)}
          {session.account !== null && ` · ${session.account}`}
        </Menu.Label>
        <Menu.Item onClick={() => navigate('/settings')}>
          {t('times_in', { zone: zoneText(zone) })}
        </Menu.Item>
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
      </Menu.Dropdown>
    </Menu>
  )
}
