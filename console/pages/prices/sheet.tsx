// One model: the versions of its price, and a new one that can be tried on last month first.
import { Button, Group, Stack, Table } from '@mantine/core'
import { useState } from 'react'
import { privateClass } from '../../lib/privacy.ts'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { SectionTitle } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { NewVersion } from './new-version.tsx'
import { type Model, type Price, versionBefore } from './price.ts'
import { Change, SourceBadge, Terms } from './terms.tsx'
import { words } from './words.ts'

export function ModelSheet({
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
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const [isAdding, setAdding] = useState(false)
  if (model === undefined) return null
  const versions = prices.filter((price) => price.model === model.name)
  const inForce = prices.filter((price) => price.current && price.account === null)
  const current = inForce.find((price) => price.model === model.name)
  return (
    <Sheet
      title={model.name}
      isOpen
      onClose={() => {
        setAdding(false)
        onClose()
      }}
      actions={
        maySee(session, ['finance']) &&
        current?.source !== 'file' && (
          <Button onClick={() => setAdding(!isAdding)}>{say('new_version')}</Button>
        )
      }
    >
      <Stack>
        <Facts
          rows={[
            [say('kind'), model.kind],
            [say('interfaces'), model.interfaces.join(', ')],
            [say('callable'), shared(model.callable ? 'yes' : 'no')],
            [say('because'), model.not_callable_because],
            [say('price'), current && <Terms price={current} />],
            [say('source'), current && <SourceBadge source={current.source} />],
            ['', current?.source === 'file' ? say('from_file') : undefined],
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
        <SectionTitle>{say('versions')}</SectionTitle>
        <Versions versions={versions} />
      </Stack>
    </Sheet>
  )
}

/** Newest first, with what each changed. */
function Versions({ versions }: { versions: readonly Price[] }) {
  const say = useWords(words)
  const shared = useWords(common)
  const newest = [...versions].sort((a, b) => (a.effective_from < b.effective_from ? 1 : -1))
  const nowText = new Date().toISOString()
  return (
    <ScrollBox label={say('versions')} minWidth={680}>
      <Table aria-label={say('versions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say('from')}</Table.Th>
            <Table.Th>{say('account')}</Table.Th>
            <Table.Th>{say('price')}</Table.Th>
            <Table.Th>{say('source')}</Table.Th>
            <Table.Th>{shared('state')}</Table.Th>
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
                  {price.account ?? say('everybody')}
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
                  {price.current && <State state="good" label={say('current')} />}
                  {isComing && <State state="queued" label={say('coming')} />}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
