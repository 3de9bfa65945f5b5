// Who changed what, before and after. Rows are only ever added.
import { Code, SimpleGrid, Stack, Text } from '@mantine/core'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { defineWords, useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page, SectionTitle } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'

const words = defineWords({
  en: {
    title: 'Audit log',
    hint: 'Every change made through the console or the admin API.',
    who: 'Who',
    action: 'What was done',
    subject: 'To what',
    empty: 'Nothing was changed yet.',
    before: 'Before',
    after: 'After',
  },
  zh: {
    title: '审计日志',
    hint: '通过控制台或管理接口所做的每一次变更。',
    who: '操作人',
    action: '操作',
    subject: '对象',
    empty: '尚无变更。',
    before: '变更前',
    after: '变更后',
  },
})

interface Change {
  id: string
  at: string
  actor: string
  action: string
  subject: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

export default function AuditLog() {
  const say = useWords(words)
  const shared = useWords(common)
  const list = useList<Change>('/audit-log')
  const [opened, setOpened] = useQueryValue('open')
  const columns: Column<Change>[] = [
    { title: shared('time'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: say('who'), width: '160px', isPrivate: true, cell: ({ actor }) => actor },
    { title: say('action'), width: '180px', cell: ({ action }) => action },
    {
      title: say('subject'),
      width: '260px',
      cell: ({ subject }) => <CopyId id={subject} most={30} />,
    },
    { title: say('after'), cell: ({ after }) => (after === null ? '–' : JSON.stringify(after)) },
  ]
  const shown = list.rows.find(({ id }) => id === opened)
  return (
    <Page title={say('title')} hint={say('hint')} actions={<ExportButton kind="audit_log" />}>
      <ListTable
        label={say('title')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
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

/** Names of what differs. */
function differing({ before, after }: Change): Set<string> {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return new Set(
    [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name])),
  )
}

function ChangeDetails({ change }: { change: Change }) {
  const say = useWords(words)
  const shared = useWords(common)
  const changed = differing(change)
  return (
    <Stack>
      <Facts
        rows={[
          [shared('time'), <Time key="t" at={change.at} />],
          [say('who'), change.actor],
          [say('subject'), <CopyId key="s" id={change.subject} most={40} />],
        ]}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {(['before', 'after'] as const).map((side) => (
          <div key={side}>
            <SectionTitle>{say(side)}</SectionTitle>
            {Object.entries(change[side] ?? {}).map(([name, value]) => (
              <Text key={name} size="sm" fw={changed.has(name) ? 700 : 400}>
                {changed.has(name) ? '● ' : ''}
                {name}: <Code>{JSON.stringify(value)}</Code>
              </Text>
            ))}
          </div>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
