// The first steps on a new gateway; each is checked off when it is done. Hidden when all are, or on
// request.
import { Anchor, Button, Card, Group, List, Text, ThemeIcon, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useChannels } from './channel-list.ts'
import { messages } from './messages.ts'

const hiddenKey = 'gateway-first-steps-hidden'

export function GettingStarted({ hasRequests }: { hasRequests: boolean | undefined }) {
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

function Steps({ hasRequests, onHide }: { hasRequests: boolean | undefined; onHide: () => void }) {
  const t = useMessages(messages)
  const channels = useChannels()
  const first = (path: string) => ({
    queryKey: ['first-steps', path],
    queryFn: () => api<Page<Sourced>>('GET', path, { query: { limit: 100 } }),
    refetchInterval: 5_000,
  })
  const tokens = useQuery(first('/tokens'))
  const prices = useQuery(first('/prices'))
  const known = [channels.data, tokens.data, prices.data, hasRequests]
  const all = channels.data?.items ?? []
  const made = tokens.data?.items.filter(({ name }) => !/^(first$|playground-)/.test(name)) ?? []
  const ownPrice = prices.data?.items.some(({ source }) => source !== 'builtin') === true
  const steps: [string, boolean, string][] = [
    [t('step_channel'), all.length > 0, '/channels'],
    [t('step_request'), hasRequests === true, '/playground'],
    [t('step_real'), all.some(({ source }) => source !== 'builtin'), '/channels'],
    [t('step_price'), ownPrice, '/prices'],
    [t('step_token'), made.length > 0, '/tokens'],
  ]
  // A step is not called open while it is not known.
  if (known.includes(undefined) || steps.every(([, isDone]) => isDone)) return null
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h5">
          {t('first_steps')}
        </Title>
        <Button variant="subtle" size="compact-xs" onClick={onHide}>
          {t('hide')}
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
              <Anchor component="button" onClick={() => navigate(to)}>
                {title}
              </Anchor>
            )}
            {!isDone && (
              <Text span size="xs" c="dimmed">
                {' '}
                {t('waiting')}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Card>
  )
}
