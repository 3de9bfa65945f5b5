// What is around every page: the way to the others, the search for any id, language, theme, and who
// is signed in.
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
import { ask } from './lib/api.ts'
import { useKeys } from './lib/keys.ts'
import { privateClass, usePrivacy } from './lib/privacy.ts'
import { go, Link, usePlace } from './lib/router.tsx'
import { endSession, maySee, useSession } from './lib/session.ts'
import { defineWords, setLanguage, useLanguage, useWords } from './lib/words.ts'
import { groups, pages, pageWords } from './pages/index.ts'
import { KeysHelp, Palette } from './palette.tsx'
import { Icon } from './parts/icon.tsx'
import { common } from './parts/words.ts'

const words = defineWords({
  en: {
    sandbox: 'SANDBOX',
    live: 'LIVE',
    sandbox_hint: 'Everything is answered by the built-in simulator',
    live_hint: 'Real upstreams are in use',
    sign_out: 'Sign out',
    theme: 'Theme',
    light: 'Light',
    dark: 'Dark',
    auto: 'As the system',
    language: '中文',
    menu: 'Menu',
    skip: 'Skip to content',
    keys: 'Keyboard shortcuts',
  },
  zh: {
    sandbox: '沙盒',
    live: '生产',
    sandbox_hint: '所有请求均由内置模拟器应答',
    live_hint: '正在使用真实上游',
    sign_out: '退出登录',
    theme: '主题',
    light: '浅色',
    dark: '深色',
    auto: '跟随系统',
    language: 'English',
    menu: '菜单',
    skip: '跳到正文',
    keys: '快捷键',
  },
})

export function Shell({ children }: { children: ReactNode }) {
  const [menuOpen, setMenuOpen] = useState(false)
  const [paletteOpen, setPaletteOpen] = useState(false)
  const [helpOpen, setHelpOpen] = useState(false)
  const session = useSession()
  const say = useWords(words)
  const shown = pages.filter(({ roles }) => maySee(session, roles))
  useKeys({
    'mod+k': () => setPaletteOpen(true),
    '/': () => setPaletteOpen(true),
    '?': () => setHelpOpen(true),
    ...Object.fromEntries(shown.map(({ key, path }) => [`g ${key}`, () => go(path)])),
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
              aria-label={say('menu')}
            />
            <Text fw={700} visibleFrom="xs">
              Model Gateway
            </Text>
            <Badge
              color={session.environment === 'live' ? 'teal' : 'violet'}
              variant="light"
              title={say(session.environment === 'live' ? 'live_hint' : 'sandbox_hint')}
            >
              {say(session.environment)}
            </Badge>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton onClick={() => setPaletteOpen(true)} />
            <EyeButton />
            <LanguageButton />
            <ThemeMenu />
            <PersonMenu onKeys={() => setHelpOpen(true)} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={say('menu')}>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation onGo={() => setMenuOpen(false)} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>{children}</AppShell.Main>
      <Palette isOpen={paletteOpen} onClose={() => setPaletteOpen(false)} />
      <KeysHelp isOpen={helpOpen} onClose={() => setHelpOpen(false)} />
    </AppShell>
  )
}

function Navigation({ onGo }: { onGo: () => void }) {
  const session = useSession()
  const { path } = usePlace()
  const say = useWords(pageWords)
  const shown = pages.filter(({ roles }) => maySee(session, roles))
  const current = shown.find((page) => path === page.path || path.startsWith(`${page.path}/`))
  return (
    <Stack gap="xs">
      {groups.map((group) => {
        const inGroup = shown.filter((page) => page.group === group)
        if (inGroup.length === 0) return null
        return (
          <Stack gap={2} key={group}>
            {say(group) !== '' && (
              <Text size="xs" c="dimmed" fw={600} px={10} mt={4}>
                {say(group)}
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
                {say(page.name)}
              </Link>
            ))}
          </Stack>
        )
      })}
    </Stack>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  const say = useWords(common)
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        onClick={onClick}
        leftSection={<Icon name="search" size={14} />}
        rightSection={<Text size="xs">⌘K</Text>}
      >
        {say('search')}
      </Button>
      <ActionIcon hiddenFrom="sm" variant="default" onClick={onClick} aria-label={say('search')}>
        <Icon name="search" size={16} />
      </ActionIcon>
    </>
  )
}

function EyeButton() {
  const say = useWords(common)
  const [isClosed, toggle] = usePrivacy()
  return (
    <ActionIcon
      variant={isClosed ? 'filled' : 'default'}
      aria-label={say('privacy')}
      aria-pressed={isClosed}
      title={say(isClosed ? 'show_names' : 'hide_names')}
      onClick={toggle}
    >
      <Icon name={isClosed ? 'hidden' : 'eye'} size={16} />
    </ActionIcon>
  )
}

function LanguageButton() {
  const language = useLanguage()
  const say = useWords(words)
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      lang={language === 'zh' ? 'en' : 'zh-CN'}
      onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
    >
      {say('language')}
    </Button>
  )
}

function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const say = useWords(words)
  const icons = { light: 'sun', dark: 'moon', auto: 'system' } as const
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={say('theme')}>
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
            {say(each)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function PersonMenu({ onKeys }: { onKeys: () => void }) {
  const session = useSession()
  const questions = useQueryClient()
  const say = useWords(words)
  const signOut = async () => {
    await ask('DELETE', '/session')
    endSession(questions)
    go('/')
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
          {session.role}
          {session.account !== null && ` · ${session.account}`}
        </Menu.Label>
        <Menu.Item onClick={onKeys}>{say('keys')}</Menu.Item>
        <Menu.Item onClick={signOut}>{say('sign_out')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
