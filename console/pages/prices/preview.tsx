// What drafts would have charged last month, beside what was charged.
import { Alert, Button, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { Money } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { lastMonth, type Preview } from './price.ts'
import { words } from './words.ts'

/** Rows that are shown; the sum is of all. */
const mostRows = 50

/** `drafts` says what to send; what it throws is shown. A draft that changes needs a new key. */
export function PreviewButton({ drafts }: { drafts: () => object }) {
  const say = useWords(words)
  const [preview, setPreview] = useState<Preview>()
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const tryOut = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const body = { month: lastMonth(), ...drafts() }
      setPreview(await ask<Preview>('POST', '/prices/preview', { body }))
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <div>
        <Button variant="default" loading={busy} onClick={() => void tryOut()}>
          {say('preview')}
        </Button>
      </div>
      <ErrorNote error={error} />
      {preview !== undefined && <PreviewTable preview={preview} />}
    </>
  )
}

function PreviewTable({ preview }: { preview: Preview }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  const { items, total, exact } = preview
  const month = lastMonth()
  if (items.length === 0) return <Alert>{say('nothing', { month })}</Alert>
  const hidden = items.length - mostRows + preview.left_off
  const reasons = [...new Set(items.flatMap((row) => row.not_comparable ?? []))]
  const amounts = (row: Preview['total']) =>
    [row.charged, row.would_charge, row.difference].map((amount, i) => (
      <Table.Td key={String(i)} ta="right">
        <Money amount={amount} currency={currency} />
      </Table.Td>
    ))
  return (
    <>
      <ScrollBox label={say('preview_of', { month })} minWidth={520}>
        <Table aria-label={say('preview_of', { month })}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{shared('account')}</Table.Th>
              <Table.Th>{shared('model')}</Table.Th>
              <Table.Th ta="right">{say('charged')}</Table.Th>
              <Table.Th ta="right">{say('would')}</Table.Th>
              <Table.Th ta="right">{say('difference')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, mostRows).map((row) => (
              <Table.Tr key={`${row.account} ${row.model} ${row.unit} ${row.not_comparable}`}>
                <Table.Td className={privateClass}>{row.account}</Table.Td>
                <Table.Td>{row.model}</Table.Td>
                {amounts(row)}
              </Table.Tr>
            ))}
            <Table.Tr>
              <Table.Th colSpan={2}>{say('sum')}</Table.Th>
              {amounts(total)}
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </ScrollBox>
      <Text size="sm" c="dimmed">
        {exact
          ? say('exact')
          : say('about', {
              least: format.money(total.at_least, currency),
              most: format.money(total.at_most, currency),
            })}
        {hidden > 0 && ` ${say('more_rows', { n: format.number(hidden) })}`}
        {reasons.length > 0 && ` ${say('no_preview', { reasons: reasons.join('; ') })}`}
      </Text>
    </>
  )
}
