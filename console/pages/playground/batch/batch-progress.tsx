// How far a batch is, what it has cost so far, and its files.
import { Alert, Button, Group, List, Progress, Stack, Text, Title } from '@mantine/core'
import type { z } from 'zod'
import type { shownBatch } from '../../../../src/admin/batches/batch-schema.ts'
import { CopyId } from '../../../components/copy.tsx'
import { ErrorAlert } from '../../../components/page.tsx'
import { State } from '../../../components/values.tsx'
import { downloadBlob } from '../../../lib/download.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useAction } from '../../../lib/use-action.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from '../messages.ts'
import type { Payer } from '../request/payer.tsx'
import { Busy } from '../result/busy.tsx'
import { cancelBatch, fileOf } from './start.ts'

type Batch = z.infer<typeof shownBatch>

const isOver = ({ finished_at }: Batch): boolean => finished_at !== null

export function BatchProgress({ id, payer }: { id: string; payer: Payer }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { data: batch, error } = useResource<Batch>(`/batches/${encodeURIComponent(id)}`, {
    refetchInterval: ({ state }) =>
      state.data === undefined || !isOver(state.data) ? 1_000 : false,
  })
  if (error !== null) return <ErrorAlert error={error} />
  if (batch === undefined) return <Busy />
  const { total, completed, failed } = batch.request_counts
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h2">
          {t('batch')}
        </Title>
        <State state={batch.state} label={t(`batch_${batch.state}`)} />
      </Group>
      <CopyId id={id} max={40} />
      <Progress value={batch.progress} aria-label={t('progress')} size="lg" />
      <Group gap="4px 18px">
        <Text size="sm">
          {t('lines_done', {
            ...{ done: format.number(completed), total: format.number(total) },
            failed: format.number(failed),
          })}
        </Text>
        <Text size="sm" fw={600}>
          {t('cost', { amount: format.cost(batch.charge, currency) })}
        </Text>
        {batch.estimate !== null && (
          <Text size="sm" c="dimmed">
            {t('about', { amount: format.cost(batch.estimate, currency) })}
          </Text>
        )}
        <Text size="sm">
          <Link to="/tasks?view=batches">{t('all_batches')}</Link>
        </Text>
      </Group>
      {batch.errors.length > 0 && (
        <Alert color="red">
          <List size="sm">
            {batch.errors.map(({ line, message }) => (
              <List.Item key={`${line} ${message}`}>
                {line === null ? message : t('line', { n: line, what: message })}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <BatchActions batch={batch} payer={payer} />
    </Stack>
  )
}

function BatchActions({ batch, payer }: { batch: Batch; payer: Payer }) {
  const t = useMessages(messages)
  const { error, isBusy, run } = useAction()
  const save = (fileId: string, name: string) =>
    run(async () => downloadBlob(name, await fileOf(await payer.secret(), fileId)))
  const cancel = () => run(async () => cancelBatch(await payer.secret(), batch.id))
  const files = [
    { id: batch.output_file_id, label: t('download_output'), name: `${batch.id}-output.jsonl` },
    { id: batch.error_file_id, label: t('download_errors'), name: `${batch.id}-errors.jsonl` },
  ]
  return (
    <>
      <Group>
        {files.map(
          ({ id, label, name }) =>
            id !== null && (
              <Button key={name} variant="default" loading={isBusy} onClick={() => save(id, name)}>
                {label}
              </Button>
            ),
        )}
        {(batch.state === 'validating' || batch.state === 'in_progress') && (
          <Button color="red" variant="light" loading={isBusy} onClick={cancel}>
            {t('cancel_batch')}
          </Button>
        )}
      </Group>
      <ErrorAlert error={error} />
    </>
  )
}
