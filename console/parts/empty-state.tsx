// What stands where rows would: nothing yet, nothing that the filters let through, or nothing that one
// may see.
import { Button, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import { useWords } from '../lib/words.ts'
import { Icon, type IconName } from './icon.tsx'
import { common } from './words.ts'

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

export function FilteredAway({ onClear }: { onClear: () => void }) {
  const say = useWords(common)
  return (
    <EmptyState icon="search" text={say('filtered')}>
      <Button variant="default" size="xs" onClick={onClear}>
        {say('clear')}
      </Button>
    </EmptyState>
  )
}

export function NotAllowed() {
  const say = useWords(common)
  return <EmptyState icon="lock" text={say('no_permission')} />
}
