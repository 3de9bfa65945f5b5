// What most was charged for, and with which tokens.
import { Group, Progress, Stack, Text } from '@mantine/core'
import { Money } from '../../../components/values.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { periodOf } from '../../../lib/resources/usage.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useCharges, useSpend } from '../charges.ts'
import { type Ranked, rankOf } from '../figures.ts'
import { requestsAt } from '../links.ts'
import { messages } from '../messages.ts'
import { type Range, spans } from '../traffic.ts'

const maxRows = 7

export function TopModels({ range }: { range: Range }) {
  const rows = useSpend(range).data?.items ?? []
  const top = rankOf(rows, ({ model }) => model ?? undefined, maxRows)
  return (
    <TopList
      top={top}
      linkOf={(name) => requestsAt(periodOf(spans[range].days), `&model=${encode(name)}`)}
    />
  )
}

export function TopTokens({ range }: { range: Range }) {
  const rows = useCharges(range, 'token').data?.items ?? []
  // Two accounts may have tokens of one name.
  const names = new Map(rows.map(({ token, token_id }) => [token_id, token]))
  return (
    <TopList
      top={rankOf(rows, ({ token_id }) => token_id ?? undefined, maxRows)}
      titleOf={(id) => names.get(id) ?? id}
      linkOf={(id) => requestsAt(periodOf(spans[range].days), `&token=${encode(id)}`)}
      isPrivate
    />
  )
}

const encode = encodeURIComponent

function TopList({
  top,
  linkOf,
  titleOf = String,
  isPrivate = false,
}: {
  top: readonly Ranked[]
  linkOf: (name: string) => string
  titleOf?: (name: string) => string
  isPrivate?: boolean
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  if (top.length === 0) return <Text c="dimmed">{t('nothing_charged')}</Text>
  const maxAmount = Math.max(...top.map(({ amount }) => Number(amount)), 1e-9)
  return (
    <Stack gap={6}>
      {top.map(({ name, charges, amount }) => (
        <div key={name}>
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <Text
              size="sm"
              truncate
              title={titleOf(name)}
              className={isPrivate ? privateClass : ''}
            >
              <Link to={linkOf(name)}>{titleOf(name)}</Link>
            </Text>
            <Text size="sm" style={{ flexShrink: 0 }}>
              <Money amount={amount} currency={currency} how="cost" />{' '}
              <Text span size="xs" c="dimmed">
                × {format.number(charges)}
              </Text>
            </Text>
          </Group>
          <Progress
            size={3}
            value={(Number(amount) / maxAmount) * 100}
            aria-hidden="true"
            color="indigo"
          />
        </div>
      ))}
    </Stack>
  )
}
