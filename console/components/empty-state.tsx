// Placeholders for a list without rows: nothing yet, no matches, or no permission.
import { Button, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import { defineMessages } from '../lib/i18n.ts'
import { useMessages } from '../lib/messages.ts'
import { navigate } from '../lib/router.tsx'
import { useServerText } from '../lib/server/use-server-text.ts'
import { useSession } from '../lib/session.ts'
import { Icon, type IconName } from './icon.tsx'
import { Page } from './page.tsx'

export const EmptyState = ({
  icon,
  text,
  children,
}: {
  icon: IconName
  text: string
  children?: ReactNode
}) => (
  <Stack align="center" gap="sm" p="xl" maw={720} mx="auto">
    <ThemeIcon variant="light" color="gray" size={44} radius="xl">
      <Icon name={icon} size={22} />
    </ThemeIcon>
    <Text c="dimmed" ta="center">
      {text}
    </Text>
    {children}
  </Stack>
)

export function NoMatches({ onClear }: { onClear: () => void }) {
  const t = useMessages()
  return (
    <EmptyState icon="search" text={t('filtered')}>
      <Button variant="default" size="xs" onClick={onClear}>
        {t('clear')}
      </Button>
    </EmptyState>
  )
}

const messages = defineMessages({
  forbidden: ['This page is not for your role', '你的角色无法访问此页面'],
  your_role: [
    'You are signed in as {role}. An administrator can change your role under People.',
    '你当前的角色是“{role}”。管理员可以在“用户”页面更改角色。',
  ],
  not_found: ['This page does not exist', '页面不存在'],
  no_address: [
    'There is nothing at {path}. The link may be old or cut off.',
    '{path} 不存在。链接可能已过期或不完整。',
  ],
  home: ['To the overview', '返回概览'],
})

/** In place of a page that cannot be shown: why, and where to go. */
function Dead({ icon, title, text }: { icon: IconName; title: string; text: string }) {
  const t = useMessages(messages)
  return (
    <Page title={title}>
      <Stack align="flex-start" gap="md" maw={560}>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Icon name={icon} />
          <Text style={{ overflowWrap: 'anywhere' }}>{text}</Text>
        </Group>
        <Button onClick={() => navigate('/')}>{t('home')}</Button>
      </Stack>
    </Page>
  )
}

export function Forbidden() {
  const t = useMessages(messages)
  const role = useServerText().text('role', useSession().role)
  const text = `${t('no_permission')} ${t('your_role', { role })}`
  return <Dead icon="lock" title={t('forbidden')} text={text} />
}

export function NotFound({ path }: { path: string }) {
  const t = useMessages(messages)
  const text = t('no_address', { path: `/console${path}` })
  return <Dead icon="search" title={t('not_found')} text={text} />
}
