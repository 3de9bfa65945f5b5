// Tasks of all asynchronous interfaces in one live list, as a table or a gallery; and batches.
import { Button } from '@mantine/core'
import { type BulkAction, BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { useSelection } from '../../components/bulk/selection.tsx'
import { Page } from '../../components/page.tsx'
import { ExportButton } from '../../components/table/export-button.tsx'
import {
  channelFilter,
  type Filter,
  FilterBar,
  useFilters,
} from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { useServedSort } from '../../components/table/served-sort.ts'
import { api } from '../../lib/api.ts'
import { type List, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { actors, isLive, states, type Task } from '../../lib/resources/task.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { hasRole, isStaff, useSession } from '../../lib/session.ts'
import { Batches } from './batches.tsx'
import { useColumns } from './columns.tsx'
import { TaskDrawer } from './drawer.tsx'
import { Gallery } from './gallery.tsx'
import { messages } from './messages.ts'
import { ModeSwitch } from './mode-switch.tsx'
import { NoTasks } from './no-tasks.tsx'
import { TaskStatistics } from './statistics.tsx'

/** Columns by which the server sorts. */
const served = { created: 'time', cost: 'charge', elapsed: 'duration' }

const refetchMs = 2_000
const callbackFilters = ['waiting', 'failed', 'exhausted', 'delivered'] as const
const families = ['videos', 'arkvendor', 'vendorg', 'images', 'imgvendor', 'responses'] as const

function useTaskFilters(): Filter[] {
  const t = useMessages(messages)
  const session = useSession()
  return [
    {
      name: 'state',
      title: t('state'),
      options: states.map((value) => ({ value, label: t(value) })),
    },
    {
      name: 'interface',
      title: t('family'),
      options: families.map((value) => ({ value, label: t(value) })),
    },
    {
      name: 'callback',
      title: t('callback'),
      options: callbackFilters.map((value) => ({ value, label: t(`callback_${value}`) })),
    },
    { name: 'model', title: t('model'), suggest: 'models' },
    { name: 'account', title: t('account'), suggest: 'accounts' },
    { name: 'from', title: t('from'), isTime: true },
    { name: 'to', title: t('to'), isTime: true },
    { name: 'tag', title: t('tag') },
    { name: 'end_user', title: t('end_user') },
    ...(isStaff(session) ? [channelFilter(t('channel'))] : []),
  ]
}

export default function TaskCentre() {
  const [view] = useQueryValue('view')
  return view === 'batches' ? <Batches /> : <Tasks mode={view === 'gallery' ? view : 'table'} />
}

function Tasks({ mode }: { mode: 'table' | 'gallery' }) {
  const t = useMessages(messages)
  const filters = useTaskFilters()
  const query = useFilters(filters)
  const order = useServedSort(served)
  const list = useList<Task>('/tasks', { ...query, ...order }, refetchMs)
  const [opened, setOpened] = useQueryValue('open')
  const [plots, setPlots] = useQueryValue('plots')
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <Button
            size="xs"
            variant={plots === undefined ? 'default' : 'light'}
            aria-pressed={plots !== undefined}
            onClick={() => setPlots(plots === undefined ? 'on' : undefined, 'replace')}
          >
            {t('plots')}
          </Button>
          <ModeSwitch mode={mode} />
          <ExportButton path="/tasks" filters={query} size="xs" />
        </>
      }
    >
      {plots !== undefined && <TaskStatistics filters={query} />}
      {mode === 'gallery' && list.rows.length > 0 ? (
        <>
          <FilterBar filters={filters} />
          <Gallery list={list} onOpen={({ id }) => setOpened(id)} />
        </>
      ) : (
        <TaskTable list={list} filters={filters} />
      )}
      <TaskDrawer id={opened} onClose={() => setOpened(undefined)} onChanged={list.refetch} />
    </Page>
  )
}

function TaskTable({ list, filters }: { list: List<Task>; filters: readonly Filter[] }) {
  const t = useMessages(messages)
  const selection = useSelection()
  const mayAct = hasRole(useSession(), actors)
  const cancel: BulkAction<Task> = {
    label: (n) => t('cancel_many', { n }),
    text: t('cancel_text'),
    isDangerous: true,
    appliesTo: isLive,
    run: ({ id }) => api('POST', `/tasks/${encodeURIComponent(id)}/cancel`),
    done: (n) => t('cancelled_many', { n }),
  }
  const maySelect = mayAct && list.rows.some(isLive)
  const columns = useColumns(
    maySelect ? selection : undefined,
    list.rows.some(({ callback_state }) => callback_state !== undefined),
  )
  return (
    <ListTable
      label={t('title')}
      list={list}
      columns={columns}
      rowKey={({ id }) => id}
      filters={filters}
      served={served}
      empty={<NoTasks onMade={list.refetch} />}
    >
      {mayAct && (
        <BulkActions
          rows={list.rows.filter(isLive)}
          selection={selection}
          nameOf={({ id }) => id}
          actions={[cancel]}
          onDone={list.refetch}
          label={t('bulk')}
          selectAll={(n) => t('select_all', { n })}
          keep={t('keep_many')}
          failed={(n) => t('not_cancelled', { n })}
        />
      )}
    </ListTable>
  )
}
