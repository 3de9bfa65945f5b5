// One model: the versions of its price, and a new one that can be tried on last month first.

import { Button, Group, Stack, Table } from '@mantine/core'
import { useState } from 'react'
import { Change, SourceBadge, Terms } from '../../components/billing/price-terms.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { State, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { type Model, type Price, versionBefore } from '../../lib/resources/price.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { NewVersion } from './new-version.tsx'

export function ModelDrawer({
  model,
  prices,
  onClose,
  onChanged,
}: {
  model: Model | undefined
  /** Of all models. */
  prices: readonly Price[]
  onClose: () => void
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const session = useSession()
  const server = useServerText()
  const [isAdding, setAdding] = useState(false)
  if (model === undefined) return null
  const versions = prices.filter((price) => price.model === model.name)
  const inForce = prices.filter((price) => price.current && price.account === null)
  const current = inForce.find((price) => price.model === model.name)
  return (
    <DetailsDrawer
      title={model.name}
      isOpen
      onClose={() => {
        setAdding(false)
        onClose()
      }}
      actions={
        hasRole(session, ['finance']) &&
        current?.source !== 'file' && (
          <Button onClick={() => setAdding(!isAdding)}>{t('new_version')}</Button>
        )
      }
    >
      <Stack>
        <PropertyList
          rows={[
            [t('kind'), server.text('model', model.kind)],
            [t('interfaces'), model.interfaces.join(', ')],
            [t('callable'), t(model.callable ? 'yes' : 'no')],
            [t('because'), model.not_callable_because],
            [t('price'), current && <Terms price={current} />],
            [t('source'), current && <SourceBadge source={current.source} />],
            ['', current?.source === 'file' ? t('from_file') : undefined],
          ]}
        />
        {isAdding && (
          <NewVersion
            model={model}
            current={current}
            others={inForce.filter((price) => price.model !== model.name)}
            onDone={() => {
              setAdding(false)
              onChanged()
            }}
          />
        )}
        <SectionTitle>{t('versions')}</SectionTitle>
        <Versions versions={versions} />
      </Stack>
    </DetailsDrawer>
  )
}

/** Newest first, with what each changed. */
function Versions({ versions }: { versions: readonly Price[] }) {
  const t = useMessages(messages)
  const newest = [...versions].sort((a, b) => (a.effective_from < b.effective_from ? 1 : -1))
  const nowText = new Date().toISOString()
  return (
    <ScrollBox label={t('versions')} minWidth={680}>
      <Table aria-label={t('versions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('effective_from')}</Table.Th>
            <Table.Th>{t('for_account')}</Table.Th>
            <Table.Th>{t('price')}</Table.Th>
            <Table.Th>{t('source')}</Table.Th>
            <Table.Th>{t('state')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {newest.map((price) => {
            const before = versionBefore(price, versions)
            const isComing = price.effective_from > nowText
            return (
              <Table.Tr key={price.id}>
                <Table.Td>
                  <Time at={price.effective_from} />
                </Table.Td>
                <Table.Td className={price.account === null ? undefined : privateClass}>
                  {price.account ?? t('everybody')}
                </Table.Td>
                <Table.Td>
                  <Group gap="xs" align="flex-start">
                    <Terms price={price} />
                    {before !== undefined && <Change before={before} after={price} />}
                  </Group>
                </Table.Td>
                <Table.Td miw={110}>
                  <SourceBadge source={price.source} />
                </Table.Td>
                <Table.Td miw={110}>
                  {price.current && <State state="good" label={t('current')} />}
                  {isComing && <State state="queued" label={t('coming')} />}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
