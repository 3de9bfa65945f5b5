// The frame around every page: navigation, search and the signed-in person, with language and theme.

import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  ScrollArea,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CommandPalette, ShortcutsHelp } from './command-palette.tsx'
import { Brand } from './components/brand.tsx'
import { Icon } from './components/icon.tsx'
import { OutageBanner } from './components/outage-banner.tsx'
import { PersonMenu, PrivacyButton } from './components/person-menu.tsx'
import { UndoToast } from './components/undo/toast.tsx'
import { defineMessages } from './lib/i18n.ts'
import { useMessages } from './lib/messages.ts'
import { useAlertCount } from './lib/open-alerts.ts'
import { Link, navigate, useLocation } from './lib/router.tsx'
import { hasRole, useSession } from './lib/session.ts'
import { searchKeys, useShortcuts } from './lib/shortcuts.ts'
import { menuOf, pages, pageTitles } from './navigation.ts'

const messages = defineMessages({
  sandbox: ['Sandbox', '沙盒'],
  sandbox_hint: ['The built-in simulator answers all requests', '所有请求由内置模拟器应答'],
  menu: ['Menu', '菜单'],
  open_alerts: ['{n} open alerts', '{n} 条未处理告警'],
})

export function Shell({ children }: { children: ReactNode }) {
  const [menuOpen, setMenuOpen] = useState(false)
  const [paletteOpen, setPaletteOpen] = useState(false)
  const [helpOpen, setHelpOpen] = useState(false)
  const session = useSession()
  const t = useMessages(messages)
  const alerts = useAlertCount()
  const shown = pages.filter(({ roles }) => hasRole(session, roles))
  const search = () => setPaletteOpen(true)
  const help = () => setHelpOpen(true)
  useShortcuts({
    'mod+k': search,
    '/': search,
    '?': help,
    ...Object.fromEntries(shown.map(({ key, path }) => [`g ${key}`, () => navigate(path)])),
  })
  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding={{ base: 'md', sm: 'lg' }}
    >
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" gap="xs" wrap="nowrap">
          <MenuButton isOpen={menuOpen} onClick={() => setMenuOpen(!menuOpen)} />
          <Brand />
          <Group gap="xs" wrap="nowrap" ml="auto">
            {alerts !== '' && (
              <Link to="/alerts" className="count" aria-label={t('open_alerts', { n: alerts })}>
                {alerts}
              </Link>
            )}
            <ActionIcon variant="subtle" color="gray" onClick={search} aria-label={t('search')}>
              <Icon name="search" />
            </ActionIcon>
            <PersonMenu onKeys={help} isShort />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label={t('menu')} className="side">
        <Group px="xs" mb="sm" gap="xs" wrap="nowrap" h={28}>
          <MenuButton isOpen={menuOpen} onClick={() => setMenuOpen(false)} />
          <Brand />
          <SandboxTag />
        </Group>
        <SearchButton onClick={search} />
        <AppShell.Section grow component={ScrollArea} mt="sm">
          <Navigation alerts={alerts} onGo={() => setMenuOpen(false)} />
        </AppShell.Section>
        <Group gap={4} wrap="nowrap" visibleFrom="sm" className="side-end">
          <PersonMenu onKeys={help} />
          <PrivacyButton />
        </Group>
      </AppShell.Navbar>
      <AppShell.Main>
        <div className="page">
          <OutageBanner />
          {children}
        </div>
      </AppShell.Main>
      <UndoToast />
      <CommandPalette isOpen={paletteOpen} onClose={() => setPaletteOpen(false)} />
      <ShortcutsHelp isOpen={helpOpen} onClose={() => setHelpOpen(false)} />
    </AppShell>
  )
}

const MenuButton = ({ isOpen, onClick }: { isOpen: boolean; onClick: () => void }) => {
  const t = useMessages(messages)
  return (
    <Burger
      opened={isOpen}
      onClick={onClick}
      hiddenFrom="sm"
      size="sm"
      lineSize={1.5}
      aria-label={t('menu')}
    />
  )
}

/** Real upstreams need no word. */
function SandboxTag() {
  const t = useMessages(messages)
  return useSession().environment === 'live' ? null : (
    <span className="tag" title={t('sandbox_hint')}>
      {t('sandbox')}
    </span>
  )
}

function Navigation({ alerts, onGo }: { alerts: string; onGo: () => void }) {
  const session = useSession()
  const { path } = useLocation()
  const t = useMessages(pageTitles)
  const shown = pages.filter(({ roles }) => hasRole(session, roles))
  const current = shown.find((page) => path === page.path || path.startsWith(`${page.path}/`))
  return (
    <Stack gap="xs">
      {menuOf(session).map(([group, inGroup]) => (
        <Stack gap={2} key={group}>
          {t(group) !== '' && (
            <Text size="xs" c="dimmed" px={10} mb={2}>
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
              <Icon name={page.name} size={16} />
              {t(page.name)}
              {page.name === 'alerts' && alerts !== '' && <span className="count">{alerts}</span>}
            </Link>
          ))}
        </Stack>
      ))}
    </Stack>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  const t = useMessages()
  return (
    <UnstyledButton className="search-button" visibleFrom="sm" onClick={onClick}>
      <Icon name="search" size={15} />
      <span title={t('search')}>{t('search')}</span>
      <kbd>{searchKeys}</kbd>
    </UnstyledButton>
  )
}
