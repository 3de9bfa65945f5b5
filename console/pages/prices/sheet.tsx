// One model: the versions of its price, and a new one that can be tried on last month first.
import { Button, Stack, Table, Title } from '@mantine/core'
import { useState } from 'react'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { NewVersion } from './new-version.tsx'
import type { Model, Price } from './price.ts'
import { Terms } from './terms.tsx'
import { words } from './words.ts'

export function ModelSheet({
  model,
  versions,
  onClose,
  onChanged,
}: {
  model: Model | undefined
  versions: readonly Price[]
  onClose: () => void
  onChanged: () => void
}) {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const [isAdding, setAdding] = useState(false)
  if (model === undefined) return null
  const current = versions.find((price) => price.current && price.account === null)
  const newest = [...versions].sort((a, b) => (a.effective_from < b.effective_from ? 1 : -1))
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
            [say('price'), current && <Terms price={current} />],
            ['', current?.source === 'file' ? say('from_file') : undefined],
          ]}
        />
        {isAdding && (
          <NewVersion
            model={model}
            current={current}
            onDone={() => {
              setAdding(false)
              onChanged()
            }}
          />
        )}
        <Title order={2} size="h5">
          {say('versions')}
        </Title>
        <Table>
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
            {newest.map((price) => (
              <Table.Tr key={price.id}>
                <Table.Td>
                  <Time at={price.effective_from} />
                </Table.Td>
                <Table.Td>{price.account ?? say('everybody')}</Table.Td>
                <Table.Td>
                  <Terms price={price} />
                </Table.Td>
                <Table.Td>{price.source}</Table.Td>
                <Table.Td>
                  {price.current && <State state="good" label={say('current')} />}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Sheet>
  )
}
