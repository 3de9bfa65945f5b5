// Last month's charges at draft prices, compared with the actual ones.
import { Alert, Button, List, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { Money } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { lastMonth, type Preview } from '../../lib/resources/price.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { messages } from './messages.ts'

/** Rows that are shown; the sum is of all. */
const maxRows = 50

/** `drafts` says what to send; what it throws is shown. A draft that changes needs a new key. */
export function PreviewButton({ drafts }: { drafts: () => object }) {
  const t = useMessages(messages)
  const [preview, setPreview] = useState<Preview>()
  const { error, isBusy, run } = useAction()
  const tryOut = () =>
    run(async () => {
      const body = { month: lastMonth(), ...drafts() }
      setPreview(await api<Preview>('POST', '/prices/preview', { body }))
    })
  return (
    <>
      <div>
        <Button variant="default" loading={isBusy} onClick={() => void tryOut()}>
          {t('preview')}
        </Button>
      </div>
      <ErrorAlert error={error} />
      {preview !== undefined && <PreviewTable preview={preview} />}
    </>
  )
}

function PreviewTable({ preview }: { preview: Preview }) {
  const t = useMessages(messages)
  const format = useFormat()
  const server = useServerText()
  const { currency } = useSession()
  const { items, total, exact } = preview
  const month = lastMonth()
  if (items.length === 0) return <Alert>{t('nothing', { month })}</Alert>
  const hidden = items.length - maxRows + preview.omitted_count
  const reasons = [...new Set(items.flatMap((row) => row.not_comparable ?? []))]
  const amounts = (row: Preview['total']) =>
    (
      [
        [t('charged'), row.charged],
        [t('would'), row.would_charge],
        [t('difference'), row.difference],
      ] as const
    ).map(([name, amount]) => (
      <Table.Td key={name} ta="right" data-label={name}>
        <Money amount={amount} currency={currency} />
      </Table.Td>
    ))
  return (
    <>
      <Losing losing={preview.losing} />
      <ScrollBox label={t('preview_of', { month })} minWidth={520}>
        <Table aria-label={t('preview_of', { month })} className="cards-on-phone">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('account')}</Table.Th>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th ta="right">{t('charged')}</Table.Th>
              <Table.Th ta="right">{t('would')}</Table.Th>
              <Table.Th ta="right">{t('difference')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, maxRows).map((row) => (
              <Table.Tr key={`${row.account} ${row.model} ${row.unit} ${row.not_comparable}`}>
                <Table.Td className={privateClass}>{row.account}</Table.Td>
                <Table.Td>{row.model}</Table.Td>
                {amounts(row)}
              </Table.Tr>
            ))}
            <Table.Tr>
              <Table.Th colSpan={2}>{t('sum')}</Table.Th>
              {amounts(total)}
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </ScrollBox>
      <Text size="sm" c="dimmed">
        {exact
          ? t('exact')
          : t('about', {
              min: format.money(total.at_least, currency),
              max: format.money(total.at_most, currency),
            })}
        {hidden > 0 && ` ${t('more_rows', { n: format.number(hidden) })}`}
        {reasons.length > 0 &&
          ` ${t('no_preview', { reasons: reasons.map(server.sentence).join('; ') })}`}
      </Text>
    </>
  )
}

/** Channels that are named one by one; the largest losses come first. */
const maxLosing = 10

/** A price below cost is said before it is saved. */
function Losing({ losing }: Pick<Preview, 'losing'>) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  if (losing.length === 0) return null
  return (
    <Alert color="red" title={t('losing')} role="alert">
      <List size="sm">
        {losing.slice(0, maxLosing).map(({ model, channel, per_call, total, charges }) => (
          <List.Item key={`${model} ${channel}`}>
            {t('losing_line', {
              ...{ model, channel, n: format.number(charges) },
              each: format.exact(per_call, currency),
              total: format.money(total, currency),
            })}
          </List.Item>
        ))}
      </List>
      {losing.length > maxLosing && t('more_rows', { n: losing.length - maxLosing })}
    </Alert>
  )
}
