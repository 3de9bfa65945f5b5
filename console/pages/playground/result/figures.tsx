// Status, time, tokens, cost and channel of an answer in one line, with the way to its request.
import { Group, Text } from '@mantine/core'
import { HttpStatus } from '../../../components/values.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { messages } from '../messages.ts'
import type { Outcome } from '../send.ts'

export function Figures({
  attempt: { charge, channel },
  outcome: { status, requestId, totalMs, firstMs, loss, answer },
}: {
  attempt: { charge?: string; channel?: string }
  outcome: Outcome
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { tokens } = answer ?? {}
  return (
    <Group gap="4px 14px">
      <HttpStatus status={status} />
      {totalMs !== undefined && (
        <Text size="sm">{t('took', { ms: format.ms(totalMs), first: format.ms(firstMs) })}</Text>
      )}
      {tokens !== undefined && (
        <Text size="sm">
          {t('tokens_used', {
            input: format.number(tokens.input),
            output: format.number(tokens.output),
          })}
        </Text>
      )}
      {charge !== undefined && (
        <Text size="sm" fw={600} title={format.exact(charge, currency)}>
          {t('cost', { amount: format.cost(charge, currency) })}
        </Text>
      )}
      {channel !== undefined && (
        <Text size="sm" c="dimmed">
          {t('by_channel', { name: channel })}
        </Text>
      )}
      {requestId !== '' && (
        <Text size="sm">
          <Link to={`/requests?open=${requestId}`}>{t('open_request')}</Link>
        </Text>
      )}
      {loss !== undefined && (
        <Text size="sm" c="orange">
          {t('loss', { names: loss.replaceAll(';', ', ') })}
        </Text>
      )}
    </Group>
  )
}
