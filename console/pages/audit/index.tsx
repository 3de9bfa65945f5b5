// Who changed what, before and after. Rows are only ever added.
import { Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useList } from '../../lib/lists.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { changesBetween, FieldDiff, isChanged } from '../../parts/field-diff.tsx'
import { type Filter, useFilters } from '../../parts/filter-bar.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page, SectionTitle } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { words } from './words.ts'

interface Change {
  id: string
  at: string
  actor: string
  action: string
  subject: string
  address: string | null
  request_id: string | null
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** Those there are; whoever writes another one into the address finds it, too. */
const actions: readonly string[] = [
  ...['account.create', 'account.credit', 'alert.resolve', 'backup', 'bill.close'],
  ...['channel.create', 'channel.update', 'channel.delete', 'diagnostics'],
  ...['export.create', 'export.delete', 'model.put'],
  ...['person.create', 'person.change', 'person.password', 'person.delete'],
  ...['price.create', 'price.import', 'statement.import', 'statement.delete'],
  ...['task.again', 'task.callback', 'task.cancel'],
  ...['token.create', 'token.update', 'token.rotate', 'token.revoke'],
]

function useAuditFilters(): Filter[] {
  const say = useWords(words)
  const shared = useWords(common)
  return [
    { name: 'action', title: say('action'), options: actions },
    { name: 'actor', title: say('who') },
    { name: 'subject', title: say('subject') },
    { name: 'from', title: shared('from'), isTime: true },
    { name: 'to', title: shared('to'), isTime: true },
  ]
}

export default function AuditLog() {
  const say = useWords(words)
  const shared = useWords(common)
  const filters = useAuditFilters()
  const set = useFilters(filters)
  const list = useList<Change>('/audit-log', set)
  const [opened, setOpened] = useQueryValue('open')
  const columns: Column<Change>[] = [
    { title: shared('time'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: say('who'), width: '140px', isPrivate: true, cell: ({ actor }) => actor },
    { title: say('action'), width: '160px', cell: ({ action }) => action },
    {
      title: say('subject'),
      width: '260px',
      cell: ({ subject }) => <CopyId id={subject} most={30} />,
    },
    { title: say('changes'), cell: (change) => summaryOf(change) },
    { title: say('address'), width: '140px', isPrivate: true, cell: ({ address }) => address },
  ]
  const shown = list.rows.find(({ id }) => id === opened)
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={<ExportButton kind="audit_log" filters={set} />}
    >
      <ListTable
        label={say('title')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        filters={filters}
        empty={<EmptyState icon="audit" text={say('empty')} />}
      />
      <Sheet
        title={shown?.action}
        isOpen={shown !== undefined}
        onClose={() => setOpened(undefined)}
      >
        {shown !== undefined && <ChangeDetails change={shown} />}
      </Sheet>
    </Page>
  )
}

/** Names of what differs, and what one of them became. */
function summaryOf({ before, after }: Change): string {
  const changed = changesBetween(before, after).filter(isChanged)
  if (changed.length === 0) return '–'
  return changed
    .map(({ field, after: value }) =>
      value === undefined ? `− ${field}` : `${field}: ${JSON.stringify(value)}`,
    )
    .join(', ')
}

function ChangeDetails({ change }: { change: Change }) {
  const say = useWords(words)
  const shared = useWords(common)
  const [isWhole, setWhole] = useState(false)
  const all = changesBetween(change.before, change.after)
  const changed = all.filter(isChanged)
  const hasSame = changed.length < all.length
  return (
    <Stack>
      <Facts
        rows={[
          [shared('time'), <Time key="t" at={change.at} />],
          [say('who'), change.actor],
          [say('subject'), <CopyId key="s" id={change.subject} most={40} />],
          [say('address'), change.address],
          [
            shared('request_id'),
            change.request_id && <CopyId key="r" id={change.request_id} most={40} />,
          ],
        ]}
      />
      <Link to={`/audit-log?subject=${encodeURIComponent(change.subject)}`}>{say('of_this')}</Link>
      <div>
        <SectionTitle>{say('changes')}</SectionTitle>
        {all.length === 0 && <Text size="sm">{say('nothing')}</Text>}
        {hasSame && (
          <Switch
            mb="xs"
            label={say('same')}
            checked={isWhole}
            onChange={(event) => setWhole(event.currentTarget.checked)}
          />
        )}
        <FieldDiff changes={isWhole ? all : changed} />
      </div>
    </Stack>
  )
}
