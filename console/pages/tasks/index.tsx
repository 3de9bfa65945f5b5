// The task centre: every asynchronous family in one list, as a table or as a gallery, live.
import { SegmentedControl, Text } from '@mantine/core'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import { useColumns } from './columns.tsx'
import { Gallery } from './gallery.tsx'
import { TaskSheet } from './sheet.tsx'
import { states, type Task } from './task.ts'
import { words } from './words.ts'

/** How often the list is asked for again: progress is what people come here for. */
const everyMs = 2_000
const families = ['videos', 'arkvendor', 'vendorg', 'images', 'imgvendor'] as const

export default function Tasks() {
  const say = useWords(words)
  const shared = useWords(common)
  const filters = [
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
    { name: 'channel', title: shared('channel') },
  ]
  const list = useList<Task>('/tasks', useFilters(filters), everyMs)
  const [opened, setOpened] = useQueryValue('open')
  const [view, setLook] = useQueryValue('view')
  const look = view === 'gallery' ? view : 'table'
  const columns = useColumns()
  const open = ({ id }: Task) => setOpened(id)
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <SegmentedControl
          size="xs"
          value={look}
          onChange={(value) => setLook(value === 'table' ? undefined : value, 'replace')}
          data={[
            { value: 'table', label: say('table') },
            { value: 'gallery', label: say('gallery') },
          ]}
        />
      }
    >
      <FilterBar filters={filters} />
      {look === 'gallery' && list.rows.length > 0 ? (
        <Gallery list={list} onOpen={open} />
      ) : (
        <DataTable
          label={say('title')}
          columns={columns}
          rows={list.rows}
          keyOf={({ id }) => id}
          opened={opened}
          onOpen={open}
          isLoading={list.isLoading}
          error={list.error}
          empty={<Text c="dimmed">{say('empty')}</Text>}
          hasMore={list.hasMore}
          isLoadingMore={list.isLoadingMore}
          onMore={list.more}
        />
      )}
      <TaskSheet id={opened} onClose={() => setOpened(undefined)} onChanged={list.again} />
    </Page>
  )
}
