// The five steps of a month, how far each is, and where it is done: what concerns all bills at once, here.
import { Button, Card, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { MonthChecklist } from '../../../src/admin/months/month-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { ArchiveButton, type MonthDialog, MonthDialogs } from '../bills/month-dialogs.tsx'
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
  const { data, error, refetch } = useResource<MonthChecklist>(`/months/${month}`)
  const [dialog, setDialog] = useState<MonthDialog>()
  const bills = data?.steps.find(({ step }) => step === 'bills_closed')
  return (
    <Card withBorder component="section" aria-label={t('steps')}>
      <Stack gap="sm">
        <ErrorAlert error={error} />
        {data?.is_over === false && <Text size="sm">{t('not_over')}</Text>}
        <SimpleGrid component="ol" cols={{ base: 1, sm: 3, lg: 5 }} m={0} p={0}>
          {(data?.steps ?? []).map(({ step, state, done, total }) => (
            <Stack key={step} component="li" gap={4} align="flex-start">
              <Link to={pageOf(step, month)}>{t(step)}</Link>
              <Text size="sm" c="dimmed">
                {t(ofChannels.includes(step) ? 'of_channels' : 'of_bills', {
                  done: format.number(done),
                  total: format.number(total),
                })}
              </Text>
              <State state={state === 'done' ? 'good' : 'open'} label={t(state)} />
              {data?.is_over === true && bills !== undefined && (
                <StepAction {...{ step, state, month, bills }} onOpen={setDialog} />
              )}
            </Stack>
          ))}
        </SimpleGrid>
        <MonthDialogs
          month={month}
          accounts={bills?.total ?? 0}
          opened={dialog}
          onOpen={setDialog}
          onChanged={() => void refetch()}
        />
      </Stack>
    </Card>
  )
}

interface StepActionProps extends Pick<Step, 'step' | 'state'> {
  month: string
  /** How many are closed. */
  bills: Pick<Step, 'done' | 'total'>
  onOpen: (dialog: MonthDialog) => void
}

function StepAction({ step, state, month, bills, onOpen }: StepActionProps) {
  const t = useMessages(messages)
  const { done, total } = bills
  if (step === 'bills_closed' && done < total) {
    return (
      <Button size="xs" onClick={() => onOpen('closing')}>
        {t('close_all')}
      </Button>
    )
  }
  if (done === 0) return null
  if (step === 'bills_numbered') return <ArchiveButton month={month} size="xs" />
  if (step !== 'bills_sent') return null
  return (
    <Button
      size="xs"
      variant={state === 'done' || done < total ? 'default' : 'filled'}
      onClick={() => onOpen('sending')}
    >
      {t('send_all')}
    </Button>
  )
}
