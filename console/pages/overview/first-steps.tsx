// What a newcomer does first; each step turns green by itself when it is done. Gone when all are, or
// when somebody hides it.
import { Anchor, Button, Card, Group, List, Text, ThemeIcon, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Page } from '../../lib/api.ts'
import { go } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Icon } from '../../parts/icon.tsx'
import { useChannels } from './channel-list.tsx'
import { words } from './words.ts'

const hiddenKey = 'gateway-first-steps-hidden'

export function FirstSteps({ hasRequests }: { hasRequests: boolean }) {
  const { role } = useSession()
  const [isHidden, setHidden] = useState(localStorage.getItem(hiddenKey) !== null)
  if (role !== 'administrator' || isHidden) return null
  const hide = () => {
    localStorage.setItem(hiddenKey, '1')
    setHidden(true)
  }
  return <Steps hasRequests={hasRequests} onHide={hide} />
}

interface Sourced {
  source: string
  name: string
}

function Steps({ hasRequests, onHide }: { hasRequests: boolean; onHide: () => void }) {
  const say = useWords(words)
  const channels = useChannels()
  const first = (path: string) => ({
    queryKey: ['first-steps', path],
    queryFn: () => ask<Page<Sourced>>('GET', path, { query: { limit: 100 } }),
    refetchInterval: 5_000,
  })
  const tokens = useQuery(first('/tokens'))
  const prices = useQuery(first('/prices'))
  const all = channels.data?.items ?? []
  const made = tokens.data?.items.filter(({ name }) => !/^(first$|playground-)/.test(name)) ?? []
  const ownPrice = prices.data?.items.some(({ source }) => source !== 'builtin') === true
  const steps: [string, boolean, string][] = [
    [say('step_channel'), all.length > 0, '/channels'],
    [say('step_request'), hasRequests, '/playground'],
    [say('step_real'), all.some(({ source }) => source !== 'builtin'), '/channels'],
    [say('step_price'), ownPrice, '/prices'],
    [say('step_token'), made.length > 0, '/tokens'],
  ]
  if (steps.every(([, isDone]) => isDone)) return null
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h5">
          {say('first_steps')}
        </Title>
        <Button variant="subtle" size="compact-xs" onClick={onHide}>
          {say('hide')}
        </Button>
      </Group>
      <List spacing={6} mt="xs" center>
        {steps.map(([title, isDone, to]) => (
          <List.Item
            key={title}
            icon={
              <ThemeIcon size={20} radius="xl" color={isDone ? 'teal' : 'gray'} variant="light">
                {isDone ? <Icon name="check" size={12} /> : <span />}
              </ThemeIcon>
            }
          >
            {isDone ? (
              <Text span>{title}</Text>
            ) : (
              <Anchor component="button" onClick={() => go(to)}>
                {title}
              </Anchor>
            )}
            {!isDone && (
              <Text span size="xs" c="dimmed">
                {' '}
                {say('waiting')}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Card>
  )
}
