// A list of prices before it is saved: what each line would change, what last month would have cost,
// and then all of it or nothing.
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Change, Terms } from '../../components/billing/price-terms.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Imported, Price, PriceList } from '../../lib/resources/price.ts'
import { messages } from './messages.ts'
import { PreviewButton } from './preview.tsx'

export function ReviewList({
  list,
  versions,
  onSaved,
  onCancel,
}: {
  list: PriceList
  /** What is in force now. */
  versions: readonly Price[]
  onSaved: (done: Imported) => void
  onCancel: () => void
}) {
  const t = useMessages(messages)
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const trial = useQuery({
    queryKey: ['price-trial', list],
    queryFn: () => api<Imported>('POST', '/prices/import', { body: { ...list, dry_run: true } }),
    retry: false,
    gcTime: 0,
  })
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      onSaved(await api<Imported>('POST', '/prices/import', { body: list }))
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const { data: outcome } = trial
  return (
    <Stack>
      <ErrorAlert error={trial.error} />
      {outcome !== undefined && (
        <>
          <Text size="sm">
            {t('counts', { added: outcome.added, unchanged: outcome.unchanged })}
            {outcome.superseded > 0 && ` ${t('superseded_count', { n: outcome.superseded })}`}
          </Text>
          <ChangeTable outcome={outcome} versions={versions} />
          {outcome.added > 0 && <PreviewButton drafts={() => ({ ...list })} />}
        </>
      )}
      <ErrorAlert error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
        <Button
          disabled={outcome === undefined || outcome.added === 0}
          loading={busy}
          onClick={() => void save()}
        >
          {t('activate')}
        </Button>
      </Group>
    </Stack>
  )
}

/** Lines that change nothing are counted, not shown. */
function ChangeTable({ outcome, versions }: { outcome: Imported; versions: readonly Price[] }) {
  const t = useMessages(messages)
  const items = outcome.items.filter((item) => item.outcome !== 'unchanged')
  if (items.length === 0) return null
  return (
    <ScrollBox label={t('changes')} minWidth={640} maxHeight="50vh">
      <Table aria-label={t('changes')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('model')}</Table.Th>
            <Table.Th>{t('for_account')}</Table.Th>
            <Table.Th>{t('before')}</Table.Th>
            <Table.Th>{t('after')}</Table.Th>
            <Table.Th>{t('effective_from')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => {
            const before = versions.find(
              ({ model, account, current }) =>
                current && model === item.model && account === item.account,
            )
            return (
              <Table.Tr key={item.line}>
                <Table.Td>
                  {item.model}{' '}
                  {item.outcome === 'superseded' && (
                    <Badge variant="light" color="gray" radius="sm">
                      {t('superseded')}
                    </Badge>
                  )}
                </Table.Td>
                <Table.Td>{item.account ?? t('everybody')}</Table.Td>
                <Table.Td>{before === undefined ? '–' : <Terms price={before} />}</Table.Td>
                <Table.Td>
                  <Terms price={item} />
                  {before !== undefined && <Change before={before} after={item} />}
                </Table.Td>
                <Table.Td>
                  <Time at={item.effective_from} />
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
