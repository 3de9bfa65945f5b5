// Costs: what the upstream of each channel takes for a model, all versions, factors and rates of exchange.
import { Button, Group, SimpleGrid, Text } from '@mantine/core'
import { useState } from 'react'
import { usePriceColumns } from '../../components/billing/price-columns.tsx'
import { SourceBadge } from '../../components/billing/price-terms.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { SearchField } from '../../components/fields/search-field.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { type Column, column } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { offerUndo } from '../../components/undo/offer.ts'
import { Name, State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Cost, CostFactors } from '../../lib/resources/cost.ts'
import { termsOf } from '../../lib/resources/price.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { ImportCosts } from './import.tsx'
import { messages } from './messages.ts'
import { NewCost } from './new-cost.tsx'

const stateTones = { scheduled: 'queued', in_force: 'good', past: 'past' } as const

export default function Costs() {
  const t = useMessages(messages)
  const isFinance = hasRole(useSession(), ['finance'])
  const list = useList<Cost>('/costs', { limit: 500 })
  const factors = useResource<CostFactors>('/costs/factors')
  const [search = ''] = useQueryValue('search')
  const [doing, setDoing] = useState<'new' | 'import'>()
  const [leaving, setLeaving] = useState<Cost>()
  const columns = useColumns(list.rows, isFinance ? setLeaving : undefined)
  const wanted = search.trim().toLowerCase()
  const rows = list.rows.filter(({ channel, model }) =>
    `${channel} ${model}`.toLowerCase().includes(wanted),
  )
  const close = () => setDoing(undefined)
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        isFinance && (
          <>
            <Button variant="default" onClick={() => setDoing('import')}>
              {t('import')}
            </Button>
            <Button onClick={() => setDoing('new')}>{t('new_version')}</Button>
          </>
        )
      }
    >
      <ListTable
        label={t('title')}
        lead={
          <SearchField
            label={t('find')}
            value={search}
            onChange={(value) => setQuery({ search: value }, 'replace')}
          />
        }
        list={{ ...list, rows }}
        columns={columns}
        rowKey={({ id }) => id}
        isFlat
        empty={<EmptyState icon="costs" text={t('empty')} />}
      />
      {factors.data !== undefined && <Factors {...factors.data} />}
      {doing === 'new' && <NewCost factors={factors.data} onClose={close} onDone={list.refetch} />}
      {doing === 'import' && <ImportCosts onClose={close} onDone={list.refetch} />}
      <Withdraw cost={leaving} onClose={() => setLeaving(undefined)} onDone={list.refetch} />
    </Page>
  )
}

function useColumns(
  rows: readonly Cost[],
  onWithdraw: ((cost: Cost) => void) | undefined,
): Column<Cost>[] {
  const t = useMessages(messages)
  return [
    column(t('channel'), '130px', ({ channel }) => <Name name={channel} />, {
      id: 'channel',
      sort: ({ channel }) => channel,
    }),
    column(t('model'), '140px', ({ model }) => <Name name={model} />, {
      id: 'model',
      sort: ({ model }) => model,
    }),
    column(t('state'), '105px', ({ state }) => (
      <State state={stateTones[state]} label={t(state)} />
    )),
    ...usePriceColumns<Cost>(
      (cost) => cost,
      undefined,
      ({ currency }) => currency,
    ),
    column(
      t('effective_from'),
      '120px',
      ({ effective_from }) => <Time at={effective_from} how="short" />,
      {
        id: 'from',
        sort: ({ effective_from }) => effective_from,
      },
    ),
    column(t('author'), '110px', ({ created_by }) => created_by ?? '–', { isPrivate: true }),
    column(t('source'), '90px', ({ source }) => <SourceBadge source={source} />),
    ...(onWithdraw === undefined || !rows.some(canWithdraw)
      ? []
      : [withdrawColumn(t('withdraw'), onWithdraw)]),
  ]
}

/** Only versions that have not begun. */
const canWithdraw = ({ state, source }: Cost) => state === 'scheduled' && source === 'api'

const withdrawColumn = (text: string, onWithdraw: (cost: Cost) => void): Column<Cost> =>
  column(
    '',
    '100px',
    (each) =>
      canWithdraw(each) && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`${text} ${each.channel} ${each.model}`}
          onClick={() => onWithdraw(each)}
        >
          {text}
        </Button>
      ),
    { id: 'withdraw' },
  )

/** A version that was withdrawn. */
const restoreCost = (cost: Cost) => {
  const { channel, model, currency, effective_from } = cost
  const body = { channel, model, currency, ...termsOf(cost), effective_from }
  return api('POST', '/costs', { body })
}

function Withdraw({
  cost: leaving,
  onClose,
  onDone,
}: {
  cost: Cost | undefined
  onClose: () => void
  onDone: () => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { model = '', channel = '', effective_from } = leaving ?? {}
  return (
    <Confirm
      title={t('withdraw_title')}
      text={t('withdraw_text', { model, channel, day: format.time(effective_from) })}
      action={t('withdraw_title')}
      keep={t('keep')}
      isOpen={leaving !== undefined}
      onClose={onClose}
      onConfirm={async () => {
        await api('DELETE', `/costs/${leaving!.id}`)
        offerUndo(t('withdrawn', { model, channel }), () => restoreCost(leaving!))
        onDone()
      }}
    />
  )
}

function Factors({ channels, exchange, currency }: CostFactors) {
  const t = useMessages(messages)
  const withFactor = channels.filter(({ cost_factor }) => cost_factor !== null)
  const rates = Object.entries(exchange)
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Panel title={t('factors')}>
        <Text size="sm" c="dimmed" mb="xs">
          {withFactor.length === 0 ? t('no_factors') : t('factors_hint')}
        </Text>
        {withFactor.length > 0 && (
          <SimpleTable
            label={t('factors')}
            rows={withFactor}
            rowKey={({ channel }) => channel}
            columns={[
              { title: t('channel'), cell: ({ channel }) => channel },
              { title: t('factor'), align: 'right', cell: ({ cost_factor }) => cost_factor },
            ]}
          />
        )}
      </Panel>
      {rates.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('no_rates')}
        </Text>
      ) : (
        <Panel title={t('exchange')}>
          <Group>
            {rates.map(([other, rate]) => (
              <Text key={other} size="sm">
                {t('rate', { rate, currency, other })}
              </Text>
            ))}
          </Group>
        </Panel>
      )}
    </SimpleGrid>
  )
}
