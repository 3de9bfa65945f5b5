// The five steps of a month, how far each is, and where it is done.
import { Card, SimpleGrid, Stack, Text } from '@mantine/core'
import type { MonthChecklist } from '../../../src/admin/months/month-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

type Step = MonthChecklist['steps'][number]

const ofChannels: readonly Step['step'][] = ['statements', 'differences']

function pageOf(step: Step['step'], month: string): string {
  if (step === 'statements') return '/bills?tab=reconcile'
  return step === 'differences' ? `/month?month=${month}` : `/bills?month=${month}`
}

export function Steps({ month }: { month: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { data, error } = useResource<MonthChecklist>(`/months/${month}`)
  return (
    <Card withBorder component="section" aria-label={t('steps')}>
      <Stack gap="sm">
        <ErrorAlert error={error} />
        {data?.is_over === false && <Text size="sm">{t('not_over')}</Text>}
        <SimpleGrid component="ol" cols={{ base: 1, sm: 3, lg: 5 }} m={0} p={0}>
          {(data?.steps ?? []).map(({ step, state, done, total }) => (
            <li key={step} style={{ listStyle: 'none' }}>
              <Link to={pageOf(step, month)}>{t(step)}</Link>
              <Text size="sm" c="dimmed">
                {t(ofChannels.includes(step) ? 'of_channels' : 'of_bills', {
                  done: format.number(done),
                  total: format.number(total),
                })}
              </Text>
              <State state={state === 'done' ? 'good' : 'open'} label={t(state)} />
            </li>
          ))}
        </SimpleGrid>
      </Stack>
    </Card>
  )
}
