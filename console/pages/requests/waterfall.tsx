// The attempts of a request as bars over its total time.
import { Box, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import type { Translate } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Attempt } from '../../lib/resources/request.ts'
import { messages } from './messages.ts'

/** Whether it went where the prompt cache of its conversation is. */
function affinityText(
  t: Translate<keyof typeof messages>,
  { affinity, moved }: Attempt,
): string | undefined {
  if (affinity === undefined) return undefined
  if (affinity === 'moved' && moved !== undefined) {
    return t('affinity_moved', { why: t(`moved_${moved}`) })
  }
  return t(affinity === 'new' ? 'affinity_new' : 'affinity_same')
}

export function Waterfall({
  attempts,
  totalMs,
}: {
  attempts: readonly Attempt[]
  totalMs: number
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const whole = Math.max(totalMs, ...attempts.map(({ after_ms, ms }) => after_ms + ms), 1)
  return (
    <Stack gap={6}>
      {attempts.map((attempt) => {
        const isGood = attempt.error === undefined && (attempt.status ?? 200) < 400
        const label =
          `${attempt.status ?? ''} ${attempt.error ?? ''} ${format.ms(attempt.ms)}`.trim()
        return (
          <Box key={`${attempt.channel} ${attempt.after_ms}`}>
            <Group justify="space-between" gap="xs">
              <Text size="xs">
                {attempt.channel}
                {attempt.key !== undefined && ` · ${t('key', { n: attempt.key })}`}
                {attempt.affinity !== undefined && ` · ${affinityText(t, attempt)}`}
              </Text>
              <Text size="xs" c={isGood ? 'dimmed' : 'red'}>
                {label}
              </Text>
            </Group>
            <Tooltip label={`+${format.ms(attempt.after_ms)}`}>
              <Box h={8} bg="var(--mantine-color-default-hover)" style={{ borderRadius: 4 }}>
                <Box
                  h={8}
                  ml={`${(attempt.after_ms / whole) * 100}%`}
                  w={`${Math.max((attempt.ms / whole) * 100, 0.5)}%`}
                  bg={isGood ? 'teal' : 'red'}
                  style={{ borderRadius: 4 }}
                />
              </Box>
            </Tooltip>
          </Box>
        )
      })}
    </Stack>
  )
}
