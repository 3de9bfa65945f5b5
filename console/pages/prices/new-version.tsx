// A draft of a price: its difference to the one in force, and what last month would have cost by it.
import {
  Alert,
  Button,
  Card,
  Code,
  Group,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { Money } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { lastMonth, type Model, type Preview, type Price, termsOf } from './price.ts'
import { words } from './words.ts'

const startingTerms = { unit: 'token', per_million: { input: '1.00', output: '2.00' } }

export function NewVersion({
  model,
  current,
  onDone,
}: {
  model: Model
  current: Price | undefined
  onDone: () => void
}) {
  const say = useWords(words)
  const before = JSON.stringify(current === undefined ? startingTerms : termsOf(current), null, 2)
  const [text, setText] = useState(before)
  const [account, setAccount] = useState('')
  const [from, setFrom] = useState('')
  const [preview, setPreview] = useState<Preview>()
  const [error, setError] = useState<Error>()
  const draft = () => ({
    model: model.name,
    ...(JSON.parse(text) as object),
    ...(account.trim() !== '' && { account: account.trim() }),
  })
  const attempt = async (work: () => Promise<void>) => {
    setError(undefined)
    try {
      await work()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  const tryOut = () =>
    attempt(async () => {
      const body = { month: lastMonth(), prices: [draft()] }
      setPreview(await ask<Preview>('POST', '/prices/preview', { body }))
    })
  const save = (event: SubmitEvent) => {
    event.preventDefault()
    void attempt(async () => {
      const start = from.trim() === '' ? {} : { effective_from: new Date(from).toISOString() }
      await ask('POST', '/prices', { body: { ...draft(), ...start } })
      onDone()
    })
  }
  return (
    <Card withBorder>
      <form onSubmit={save}>
        <Stack>
          <Textarea
            label={say('tiers_json')}
            value={text}
            autosize
            minRows={5}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            onChange={(event) => {
              setText(event.currentTarget.value)
              setPreview(undefined)
            }}
          />
          <Diff before={before} after={text} />
          <Group grow>
            <TextInput
              label={say('account')}
              placeholder={say('everybody')}
              value={account}
              onChange={(event) => setAccount(event.currentTarget.value)}
            />
            <TextInput
              label={say('effective')}
              type="datetime-local"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
          </Group>
          <ErrorNote error={error} />
          {preview !== undefined && <PreviewTable preview={preview} />}
          <Group>
            <Button variant="default" onClick={tryOut}>
              {say('preview')}
            </Button>
            <Button type="submit">{say('save')}</Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

/** Lines that go, lines that come. */
function Diff({ before, after }: { before: string; after: string }) {
  if (before === after) return null
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  const lines = [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `- ${line}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ]
  return <Code block>{lines.join('\n')}</Code>
}

function PreviewTable({ preview }: { preview: Preview }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  const { items, total, exact } = preview
  if (items.length === 0) return <Alert>{say('nothing', { month: lastMonth() })}</Alert>
  return (
    <>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{shared('account')}</Table.Th>
            <Table.Th ta="right">{say('charged')}</Table.Th>
            <Table.Th ta="right">{say('would')}</Table.Th>
            <Table.Th ta="right">{say('difference')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((row) => (
            <Table.Tr key={row.account}>
              <Table.Td>{row.account}</Table.Td>
              <Table.Td ta="right">
                <Money amount={row.charged} currency={currency} />
              </Table.Td>
              <Table.Td ta="right">
                <Money amount={row.would_charge} currency={currency} />
              </Table.Td>
              <Table.Td ta="right">
                <Money amount={row.difference} currency={currency} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed">
        {exact
          ? say('exact')
          : say('about', {
              least: format.money(total.at_least, currency),
              most: format.money(total.at_most, currency),
            })}
      </Text>
    </>
  )
}
