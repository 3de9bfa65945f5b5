// Batches in one live list: how far each is, what it has cost, and cancelling.
import { Button, Group, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import type { ListedBatch } from '../../../src/admin/batches/batch-schema.ts'
import { Confirm } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { ExportButton } from '../../components/table/export-button.tsx'
import { type Filter, useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { ModeSwitch } from './mode-switch.tsx'

const refetchMs = 2_000
const states = [
  ...(['validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired'] as const),
  ...(['cancelling', 'cancelled'] as const),
]

/** Files of tasks expire in other words. */
const nameOf = (state: (typeof states)[number]) => (state === 'expired' ? 'batch_expired' : state)

export function Batches() {
  const t = useMessages(messages)
  const filters: Filter[] = [
    {
      name: 'state',
      title: t('state'),
      options: states.map((value) => ({ value, label: t(nameOf(value)) })),
    },
    { name: 'account', title: t('account'), suggest: 'accounts' },
  ]
  const query = useFilters(filters)
  const list = useList<ListedBatch>('/batches', query, refetchMs)
  const [cancelling, setCancelling] = useState<string>()
  const columns = useColumns(list.rows, setCancelling)
  return (
    <Page
      title={t('title')}
      hint={t('batch_hint')}
      actions={
        <>
          <ModeSwitch mode="batches" />
          <ExportButton path="/batches" filters={query} size="xs" />
        </>
      }
    >
      <ListTable
        label={t('batches')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        filters={filters}
        isFlat
        empty={<EmptyState icon="tasks" text={t('no_batches')} />}
      />
      <Confirm
        title={t('cancel_batch')}
        text={t('cancel_batch_text')}
        action={t('cancel_batch')}
        keep={t('keep_batch')}
        isOpen={cancelling !== undefined}
        onClose={() => setCancelling(undefined)}
        onConfirm={async () => {
          await api('POST', `/batches/${encodeURIComponent(cancelling ?? '')}/cancel`)
          list.refetch()
        }}
      />
    </Page>
  )
}

function useColumns(
  batches: readonly ListedBatch[] | undefined,
  onCancel: (id: string) => void,
): Column<ListedBatch>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const callerText = ({ account, token }: ListedBatch) => `${account ?? ''} / ${token ?? ''}`
  return [
    column(t('created'), '124px', ({ created_at }) => <Time at={created_at} how="short" />, {
      ...{ id: 'created', sort: ({ created_at }) => created_at },
    }),
    column(t('token'), '225px', callerText, { id: 'token', sort: callerText }),
    column(t('state'), '110px', ({ state }) => <State state={state} label={t(nameOf(state))} />, {
      ...{ id: 'state', sort: ({ state }) => state },
    }),
    column(t('progress'), '120px', (batch) => <BatchProgress batch={batch} />, { id: 'progress' }),
    ...useCancelColumn(batches, onCancel),
    numberColumn(t('lines'), '60px', (batch) => format.number(batch.request_counts.total), {
      id: 'lines',
    }),
    numberColumn(t('completed'), '92px', (batch) => format.number(batch.request_counts.completed), {
      id: 'completed',
    }),
    numberColumn(t('failed'), '60px', (batch) => format.number(batch.request_counts.failed), {
      id: 'failed',
    }),
    ...useMoneyColumns(),
    column(t('endpoint'), '160px', ({ endpoint }) => endpoint, { id: 'endpoint' }),
    column(t('batch_id'), '230px', ({ id }) => <CopyId id={id} />, { id: 'id', isOptional: true }),
  ]
}

function useMoneyColumns(): Column<ListedBatch>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  const cost = ({ charge }: ListedBatch) => (
    <Money amount={charge} currency={currency} how="cost" isBare />
  )
  const estimate = ({ estimate: amount }: ListedBatch) =>
    amount === null ? '–' : <Money amount={amount} currency={currency} how="cost" isBare />
  return [
    numberColumn(withUnit(t('cost'), currency), '90px', cost, {
      ...{ id: 'cost', sort: ({ charge }) => charge },
    }),
    numberColumn(withUnit(t('estimate'), currency), '104px', estimate, { id: 'estimate' }),
  ]
}

const canCancel = ({ state }: ListedBatch) => state === 'validating' || state === 'in_progress'

/** Only while one runs. */
function useCancelColumn(
  batches: readonly ListedBatch[] = [],
  onCancel: (id: string) => void,
): Column<ListedBatch>[] {
  const t = useMessages(messages)
  const isOperator = hasRole(useSession(), ['operator'])
  if (!isOperator || !batches.some(canCancel)) return []
  const cell = (batch: ListedBatch) =>
    canCancel(batch) && (
      <Button size="compact-xs" color="red" variant="light" onClick={() => onCancel(batch.id)}>
        {t('cancel_batch')}
      </Button>
    )
  return [column(t('action'), '110px', cell, { id: 'cancel' })]
}

function BatchProgress({ batch: { progress } }: { batch: ListedBatch }) {
  const t = useMessages(messages)
  return (
    <Group gap={6} wrap="nowrap">
      <Progress value={progress} w={80} aria-label={t('progress')} />
      <Text size="xs">{progress}%</Text>
    </Group>
  )
}
