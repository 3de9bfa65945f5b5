// The audit log: who changed what, with the values before and after.

import { Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import type { AuditRow as Change } from '../../../src/admin/money/audit-schema.ts'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { changesBetween, FieldDiff, isChanged } from '../../components/field-diff.tsx'
import { Page, SectionTitle } from '../../components/page.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { ExportButton } from '../../components/table/export-button.tsx'
import { type Filter, useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Name, Time } from '../../components/values.tsx'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { auditActions } from '../../lib/server/codes.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

/** The known ones; the address may name others. */
const actions = Object.keys(auditActions)
const kinds: readonly NonNullable<Change['actor_kind']>[] = ['person', 'admin_token', 'gateway']

function useAuditFilters(): Filter[] {
  const t = useMessages(messages)
  const server = useServerText()
  return [
    {
      name: 'action',
      title: t('action'),
      options: actions.map((value) => ({ value, label: server.text('audit_action', value) })),
    },
    { name: 'actor', title: t('who') },
    {
      name: 'actor_kind',
      title: t('kind'),
      options: kinds.map((value) => ({ value, label: t(`kind_${value}`) })),
    },
    { name: 'subject', title: t('subject') },
    { name: 'from', title: t('from'), isTime: true },
    { name: 'to', title: t('to'), isTime: true },
  ]
}

export default function AuditLog() {
  const t = useMessages(messages)
  const server = useServerText()
  const filters = useAuditFilters()
  const set = useFilters(filters)
  const list = useList<Change>('/audit-log', set)
  const [opened, setOpened] = useQueryValue('open')
  const columns: Column<Change>[] = [
    {
      id: 'time',
      title: t('time'),
      width: '130px',
      cell: ({ at }) => <Time at={at} how="short" />,
    },
    {
      id: 'who',
      title: t('who'),
      width: '130px',
      isPrivate: true,
      cell: (change) => <Actor change={change} />,
    },
    {
      id: 'action',
      title: t('action'),
      width: '170px',
      cell: ({ action }) => <span title={action}>{server.text('audit_action', action)}</span>,
    },
    {
      id: 'subject',
      title: t('subject'),
      width: '290px',
      cell: ({ name, subject }) =>
        name === null ? <CopyId id={subject} max={30} /> : <Name name={name} />,
    },
    {
      id: 'changes',
      title: t('changes'),
      width: '320px',
      cell: (change) => <Summary change={change} />,
    },
    {
      id: 'address',
      title: t('address'),
      width: '130px',
      isPrivate: true,
      cell: ({ address }) => address,
    },
  ]
  const shown = list.rows.find(({ id }) => id === opened)
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={<ExportButton path="/audit-log" filters={set} />}
    >
      <ListTable
        label={t('title')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        filters={filters}
        empty={<EmptyState icon="audit" text={t('empty')} />}
      />
      <DetailsDrawer
        title={shown && server.text('audit_action', shown.action)}
        isOpen={shown !== undefined}
        onClose={() => setOpened(undefined)}
      >
        {shown !== undefined && <ChangeDetails change={shown} />}
      </DetailsDrawer>
    </Page>
  )
}

/** A person is shown by name alone; what else makes changes is told from a person of that name. */
function Actor({ change: { actor, actor_kind } }: { change: Change }) {
  const t = useMessages(messages)
  return actor_kind === null || actor_kind === 'person' ? actor : t(`kind_${actor_kind}`)
}

/** Names of what differs, and what one of them became. */
/** On a phone a new channel would fill the screen. */
function Summary({ change }: { change: Change }) {
  const text = summaryOf(change)
  return (
    <Text size="sm" inherit className="clamped" title={text}>
      {text}
    </Text>
  )
}

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
  const t = useMessages(messages)
  const [isWhole, setWhole] = useState(false)
  const all = changesBetween(change.before, change.after)
  const changed = all.filter(isChanged)
  const hasSame = changed.length < all.length
  return (
    <Stack>
      <PropertyList
        rows={[
          [t('time'), <Time key="t" at={change.at} />],
          [t('who'), <Actor key="w" change={change} />],
          [t('kind'), change.actor_kind && t(`kind_${change.actor_kind}`)],
          [t('subject'), change.name],
          ['ID', <CopyId key="s" id={change.subject} max={40} />],
          [t('address'), change.address],
          [
            t('request_id'),
            change.request_id && <CopyId key="r" id={change.request_id} max={40} />,
          ],
        ]}
      />
      <Link to={`/audit-log?subject=${encodeURIComponent(change.subject)}`}>{t('of_this')}</Link>
      <div>
        <SectionTitle>{t('changes')}</SectionTitle>
        {all.length === 0 && <Text size="sm">{t('nothing')}</Text>}
        {hasSame && (
          <Switch
            mb="xs"
            label={t('same')}
            checked={isWhole}
            onChange={(event) => setWhole(event.currentTarget.checked)}
          />
        )}
        <FieldDiff changes={isWhole ? all : changed} />
      </div>
    </Stack>
  )
}
