// Placeholders for a list without rows: nothing yet, no matches, or no permission.
import { Button, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../lib/messages.ts'
import { Icon, type IconName } from './icon.tsx'

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

export function Forbidden() {
  const t = useMessages()
  return <EmptyState icon="lock" text={t('no_permission')} />
}
