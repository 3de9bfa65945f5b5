// A bill by the values of a tag, or by end user.
import { Select, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { withUnit } from '../../components/table/data-table.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Bill } from '../../lib/resources/bill.ts'
import type { Account } from '../../lib/resources/token.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

const endUser = 'end_user'

export function BillTags({ account, month }: { account: string; month: string }) {
  const t = useMessages(messages)
  const found = useResource<Account>(`/accounts/${encodeURIComponent(account)}`)
  const keys = [...(found.data?.tag_names ?? []).map((name) => `tag:${name}`), endUser]
  const [chosen, setChosen] = useState<string | null>(null)
  const key = chosen ?? keys[0] ?? endUser
  const { data, error, isLoading } = useResource<Bill>('/bills', {
    query: { account, month, group_by: key },
    enabled: found.data !== undefined,
  })
  return (
    <Stack>
      <Select
        label={t('tag_key')}
        w={240}
        allowDeselect={false}
        data={keys.map((value) => ({
          value,
          label: value === endUser ? t('end_user') : value.slice(4),
        }))}
        value={key}
        onChange={setChosen}
      />
      <ErrorAlert error={found.error ?? error} />
      {isLoading ? <Skeleton height={120} /> : <TagItems bill={data} />}
    </Stack>
  )
}

function TagItems({ bill }: { bill: Bill | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (bill?.items === undefined || bill.items.length === 0) {
    return <Text c="dimmed">{t('no_charges')}</Text>
  }
  return (
    <SimpleTable
      label={t('by_tag')}
      rows={bill.items}
      rowKey={({ tag, end_user }) => tag ?? end_user ?? ''}
      columns={[
        {
          title: t('tag_value'),
          isPrivate: true,
          cell: ({ tag, end_user }) => tag ?? end_user ?? t('untagged'),
        },
        { title: t('count'), align: 'right', cell: ({ charges }) => format.number(charges) },
        {
          title: withUnit(t('amount'), bill.currency),
          align: 'right',
          cell: ({ amount }) => <Money amount={amount} currency={bill.currency} isBare />,
        },
      ]}
    />
  )
}
