// A list of prices before it is saved: what each line would change, what last month would have cost,
// and then all of it or nothing.
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { PreviewButton } from './preview.tsx'
import type { Imported, Price, PriceList } from './price.ts'
import { Change, Terms } from './terms.tsx'
import { words } from './words.ts'

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
  const say = useWords(words)
  const shared = useWords(common)
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const trial = useQuery({
    queryKey: ['price-trial', list],
    queryFn: () => ask<Imported>('POST', '/prices/import', { body: { ...list, dry_run: true } }),
    retry: false,
    gcTime: 0,
  })
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      onSaved(await ask<Imported>('POST', '/prices/import', { body: list }))
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const { data: outcome } = trial
  return (
    <Stack>
      <ErrorNote error={trial.error} />
      {outcome !== undefined && (
        <>
          <Text size="sm">
            {say('counts', { added: outcome.added, unchanged: outcome.unchanged })}
            {outcome.superseded > 0 && ` ${say('superseded_count', { n: outcome.superseded })}`}
          </Text>
          <ChangeTable outcome={outcome} versions={versions} />
          {outcome.added > 0 && <PreviewButton drafts={() => ({ ...list })} />}
        </>
      )}
      <ErrorNote error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          {shared('cancel')}
        </Button>
        <Button
          disabled={outcome === undefined || outcome.added === 0}
          loading={busy}
          onClick={() => void save()}
        >
          {say('save')}
        </Button>
      </Group>
    </Stack>
  )
}

/** Lines that change nothing are counted, not shown. */
function ChangeTable({ outcome, versions }: { outcome: Imported; versions: readonly Price[] }) {
  const say = useWords(words)
  const shared = useWords(common)
  const items = outcome.items.filter((item) => item.outcome !== 'unchanged')
  if (items.length === 0) return null
  return (
    <ScrollBox label={say('changes')} minWidth={640} maxHeight="50vh">
      <Table aria-label={say('changes')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{shared('model')}</Table.Th>
            <Table.Th>{say('account')}</Table.Th>
            <Table.Th>{say('before')}</Table.Th>
            <Table.Th>{say('after')}</Table.Th>
            <Table.Th>{say('from')}</Table.Th>
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
                      {say('superseded')}
                    </Badge>
                  )}
                </Table.Td>
                <Table.Td>{item.account ?? say('everybody')}</Table.Td>
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
