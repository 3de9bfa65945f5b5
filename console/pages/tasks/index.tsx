// The task centre: every asynchronous family in one list, as a table or as a gallery, live.
import { Button, SegmentedControl } from '@mantine/core'
import { type List, useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { isStaff, maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ExportButton } from '../../parts/export-button.tsx'
import { type Filter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import { BulkCancel, useSelection } from './bulk-cancel.tsx'
import { useColumns } from './columns.tsx'
import { Gallery } from './gallery.tsx'
import { TaskPlots } from './plots.tsx'
import { NoTasks } from './samples.tsx'
import { TaskSheet } from './sheet.tsx'
import { actors, states, type Task } from './task.ts'
import { words } from './words.ts'

/** How often the list is asked for again: progress is what people come here for. */
const everyMs = 2_000
const families = ['videos', 'arkvendor', 'vendorg', 'images', 'imgvendor'] as const

function useTaskFilters(): Filter[] {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  return [
    {
      name: 'state',
      title: shared('state'),
      options: states.map((value) => ({ value, label: say(value) })),
    },
    {
      name: 'interface',
      title: say('family'),
      options: families.map((value) => ({ value, label: say(value) })),
    },
    { name: 'model', title: shared('model') },
    { name: 'account', title: shared('account') },
    ...(isStaff(session) ? [{ name: 'channel', title: shared('channel') }] : []),
  ]
}

export default function Tasks() {
  const say = useWords(words)
  const filters = useTaskFilters()
  const query = useFilters(filters)
  const list = useList<Task>('/tasks', query, everyMs)
  const [opened, setOpened] = useQueryValue('open')
  const [view, setView] = useQueryValue('view')
  const [plots, setPlots] = useQueryValue('plots')
  const look = view === 'gallery' ? view : 'table'
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <>
          <Button
            size="xs"
            variant={plots === undefined ? 'default' : 'light'}
            aria-pressed={plots !== undefined}
            onClick={() => setPlots(plots === undefined ? 'on' : undefined, 'replace')}
          >
            {say('plots')}
          </Button>
          <SegmentedControl
            size="xs"
            value={look}
            onChange={(value) => setView(value === 'table' ? undefined : value, 'replace')}
            data={[
              { value: 'table', label: say('table') },
              { value: 'gallery', label: say('gallery') },
            ]}
          />
          <ExportButton kind="tasks" filters={query} size="xs" />
        </>
      }
    >
      {plots !== undefined && <TaskPlots filters={query} />}
      {look === 'gallery' && list.rows.length > 0 ? (
        <>
          <FilterBar filters={filters} />
          <Gallery list={list} onOpen={({ id }) => setOpened(id)} />
        </>
      ) : (
        <TaskTable list={list} filters={filters} />
      )}
      <TaskSheet id={opened} onClose={() => setOpened(undefined)} onChanged={list.again} />
    </Page>
  )
}

function TaskTable({ list, filters }: { list: List<Task>; filters: readonly Filter[] }) {
  const say = useWords(words)
  const selection = useSelection()
  const mayAct = maySee(useSession(), actors)
  const columns = useColumns(mayAct ? selection : undefined)
  return (
    <ListTable
      label={say('title')}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      filters={filters}
      empty={<NoTasks onMade={list.again} />}
    >
      {mayAct && <BulkCancel rows={list.rows} selection={selection} onDone={list.again} />}
    </ListTable>
  )
}
